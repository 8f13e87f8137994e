// An engine with the module text.upper and the flow `upper`, for foreign clients: node engine.ts [ADDRESS]. With the address of a
// foreign module, that is the module `echo` of the flow `echo`. Prints its address; SIGTERM ends it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveModule } from '@weir/module';
import { assemble } from '../../../cli/up/assemble.ts';
import { readModules } from '../../../dispatch/modules/configuration.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { systemClock } from '../../../platform/clock/system-clock.ts';
import { createLogger } from '../../../platform/telemetry/logger.ts';

const served = await serveModule(
  {
    name: 'text.upper',
    input: { text: 'string' },
    output: { upper: 'string' },
    process: ({ fields }) => ({ upper: fields.text.toUpperCase() }),
  },
  { address: '127.0.0.1:0', handleSignals: false },
);
const [, , foreignAddress] = process.argv;
const directory: Record<string, { endpoints: string[] }> = { 'text.upper': { endpoints: [served.address] } };
const texts = [
  '{ flow: upper, business: test, steps: { upper: { call: text.upper, send: [text], receive: [upper] } } }',
];
if (foreignAddress !== undefined) {
  directory['echo'] = { endpoints: [foreignAddress] };
  texts.push(`
flow: echo
business: test
fields: { code: { type: string, default: '0' } }
steps:
  first: { call: echo, send: [text], receive: [text] }
  second: { after: [first], call: echo, send: [text], receive: [text] }
  coded: { after: [second], when: "code != '0'", call: echo, send: [code] }
`);
}
const modules = readModules(JSON.stringify({ modules: directory }));
if (!modules.ok) throw new Error(JSON.stringify(modules.problems));
const flows = texts.map((text) => {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return { text, flow: parsed.flow };
});

const data = mkdtempSync(join(tmpdir(), 'weir-engine-'));
const engine = await assemble({
  data,
  address: '127.0.0.1:0',
  modules: modules.value,
  flows,
  logger: createLogger(systemClock, (line) => console.error(line)),
  onFatal: (cause) => {
    throw new Error(cause);
  },
});
console.log(engine.address);

const told = Promise.withResolvers<void>();
process.once('SIGTERM', () => told.resolve());
await told.promise;
await engine.stop();
await served.stop();
rmSync(data, { recursive: true });
