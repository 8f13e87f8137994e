// An engine with one module and one flow, for foreign clients. Prints its address; SIGTERM ends it.

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
const modules = readModules(JSON.stringify({ modules: { 'text.upper': { endpoints: [served.address] } } }));
if (!modules.ok) throw new Error(JSON.stringify(modules.problems));
const text = '{ flow: upper, business: test, steps: { upper: { call: text.upper, send: [text], receive: [upper] } } }';
const parsed = parseFlow(text);
if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));

const data = mkdtempSync(join(tmpdir(), 'weir-engine-'));
const engine = await assemble({
  data,
  address: '127.0.0.1:0',
  modules: modules.value,
  flows: [{ text, flow: parsed.flow }],
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
