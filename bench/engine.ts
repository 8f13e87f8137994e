// The engine as its users run it: `weir up` in a process of its own, on an empty data folder, with the echo module in another.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '../platform/rpc/client.ts';
import { Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import { type MeasuredProcess, start } from './measured-process.ts';

export const business = 'bench';
export const flow = 'three-steps';

const flowText = `
flow: ${flow}
business: ${business}
steps:
  first: { call: echo, send: [payload], receive: [first] }
  second: { after: [first], call: echo, send: [first], receive: [second] }
  third: { after: [second], call: echo, send: [second], receive: [third] }
`;

export interface Engine {
  readonly engine: MeasuredProcess;
  readonly module: MeasuredProcess;
  readonly runs: Client<typeof Runs>;
  stop(): Promise<void>;
}

export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const module = await start('bench/echo-module.ts');
  const { port } = module.greeting as { port: number };
  writeFileSync(
    join(folder, 'modules.yaml'),
    `modules:\n  echo: { endpoints: ['127.0.0.1:${port}'], concurrency: 128 }\n`,
  );
  writeFileSync(join(folder, 'three-steps.flow.yaml'), flowText);
  const engine = await start('bench/engine-process.ts', folder);
  const runs = connect(Runs, (engine.greeting as { address: string }).address);
  return {
    engine,
    module,
    runs,
    async stop() {
      runs.close();
      await engine.stop();
      await module.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
