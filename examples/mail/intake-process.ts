// The process that hosts all modules of the example. Each has its own server and port, as if it were alone.
import { serveModule } from '@weir/module';
import { listening } from './modules/directory.ts';
import { detectLanguage } from './modules/language.ts';
import { indexReferences } from './modules/near-duplicate.ts';
import { parseMail } from './modules/parse.ts';
import { placeOf, reviewReason } from './modules/place.ts';
import { readReference } from './modules/reference.ts';
import { serveScore } from './modules/serve-score.ts';

const keyOf = (call: { rowkey: Uint8Array }) => Buffer.from(call.rowkey).toString();

const reference = await readReference();
const duplicates = indexReferences(reference.map(({ key, body }) => ({ key, text: body })));

await serveModule(
  {
    name: 'mail.parse',
    input: { raw: 'bytes' },
    output: { subject: 'string', body: 'string', sender: 'string', recipient: 'string', parse_problem: 'string' },
    process: async ({ fields }) => parseMail(fields.raw),
  },
  listening('mail.parse', 0),
);

await serveModule(
  {
    name: 'text.language',
    input: { body: 'string' },
    output: { language: 'string' },
    process: async ({ fields }) => ({ language: detectLanguage(fields.body) }),
  },
  listening('text.language', 0),
);

await serveModule(
  {
    name: 'text.neardup',
    input: { body: 'string' },
    output: { near_dup_of: 'string' },
    process: async ({ fields, call }) => ({ near_dup_of: duplicates.find(keyOf(call), fields.body) }),
  },
  listening('text.neardup', 0),
);

await serveModule(
  {
    name: 'mail.publish',
    input: { language: 'string' },
    output: { published_at: 'string' },
    process: async ({ fields, call }) => ({ published_at: placeOf(`published/${fields.language}`, keyOf(call)) }),
  },
  listening('mail.publish', 0),
);

await serveModule(
  {
    name: 'mail.quarantine',
    input: {},
    output: { quarantined_at: 'string' },
    process: async ({ call }) => ({ quarantined_at: placeOf('quarantined', keyOf(call)) }),
  },
  listening('mail.quarantine', 0),
);

await serveModule(
  {
    name: 'mail.review',
    input: { spam_score: 'double', near_dup_of: 'string' },
    output: { review_at: 'string', review_reason: 'string' },
    process: async ({ fields, call }) => ({
      review_at: placeOf('review', keyOf(call)),
      review_reason: reviewReason({ spamScore: fields.spam_score, nearDuplicateOf: fields.near_dup_of }),
    }),
  },
  listening('mail.review', 0),
);

await serveScore(reference, 0);
