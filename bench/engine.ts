// The engine as its users run it: `weir up` in a process of its own, on an empty data folder, with the echo module in another.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '../platform/rpc/client.ts';
import { Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import { type MeasuredProcess, start } from './measured-process.ts';

export const business = 'bench';
export const flow = 'three-steps';

export const flowText = `
flow: ${flow}
business: ${business}
steps:
  first: { call: echo, send: [payload], receive: [first] }
  second: { after: [first], call: echo, send: [first], receive: [second] }
  third: { after: [second], call: echo, send: [second], receive: [third] }
`;

/** An engine, or what stands for it, with its module. */
export interface Engine {
  readonly engine: MeasuredProcess;
  readonly module: MeasuredProcess;
  readonly runs: Client<typeof Runs>;
  stop(): Promise<void>;
}

export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const module = await start('bench/echo-module.ts');
  const endpoint = addressOf(module);
  writeFileSync(join(folder, 'modules.yaml'), `modules:\n  echo: { endpoints: ['${endpoint}'], concurrency: 128 }\n`);
  writeFileSync(join(folder, 'three-steps.flow.yaml'), flowText);
  const engine = await start('bench/engine-process.ts', folder);
  return together(engine, module, () => rmSync(folder, { recursive: true, force: true }));
}

/** The same calls without an engine between them. */
export async function startFloor(): Promise<Engine> {
  const module = await start('bench/echo-module.ts');
  return together(await start('bench/floor-process.ts', addressOf(module)), module, () => {});
}

export function addressOf({ greeting }: MeasuredProcess): string {
  return (greeting as { address: string }).address;
}

function together(engine: MeasuredProcess, module: MeasuredProcess, cleanUp: () => void): Engine {
  const runs = connect(Runs, addressOf(engine));
  return {
    engine,
    module,
    runs,
    async stop() {
      runs.close();
      await engine.stop();
      await module.stop();
      cleanUp();
    },
  };
}
