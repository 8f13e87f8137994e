// The engine as `weir up` assembles it, in a process of its own: node engine-process.ts FOLDER (with modules.yaml and one flow)

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from '../cli/up/assemble.ts';
import { readModules } from '../dispatch/modules/configuration.ts';
import { parseFlow } from '../flow/definition/definition.ts';
import { systemClock } from '../platform/clock/system-clock.ts';
import { createLogger } from '../platform/telemetry/logger.ts';

const [, , folder = ''] = process.argv;
const text = readFileSync(join(folder, 'three-steps.flow.yaml'), 'utf8');
const parsed = parseFlow(text);
if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
const modules = readModules(readFileSync(join(folder, 'modules.yaml'), 'utf8'));
if (!modules.ok) throw new Error(JSON.stringify(modules));

const engine = await assemble({
  data: join(folder, 'data'),
  address: '127.0.0.1:0',
  modules: modules.value,
  flows: [{ text, flow: parsed.flow }],
  logger: createLogger(systemClock, (line) => process.stderr.write(`${line}\n`)),
  onFatal: (cause) => {
    console.error(cause);
    process.exit(1);
  },
});
process.on('SIGTERM', () => {
  engine.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(1));
process.send?.({ address: engine.address });
