// Writes docs/flow.schema.json from the description of the flow language; with --check it only says whether the file is fresh.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flowJsonSchema } from '../flow/definition/schema/flow-schema.ts';

const path = join(import.meta.dirname, '../docs/flow.schema.json');
const text = `${JSON.stringify(flowJsonSchema, undefined, 2)}\n`;

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('docs/flow.schema.json is not what the flow language is: npm run schema');
  process.exitCode = 1;
}
