// A second process with a second endpoint of `mail.score`, the module that costs most: the engine shares the calls out.
import { readReference } from './modules/reference.ts';
import { serveScore } from './modules/serve-score.ts';

await serveScore(await readReference(), 1);
