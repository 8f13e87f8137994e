// One engine as `weir up` assembles it, modules of the SDK, and a client: all in this process, over real gRPC.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { failed, type ServedModule, serveModule } from '@weir/module';
import { assemble, type Engine } from '../../../cli/up/assemble.ts';
import { type ModuleSetting, readModules } from '../../../dispatch/modules/configuration.ts';
import type { DispatchSettings } from '../../../dispatch/settings.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { type Client, connect } from '../../../platform/rpc/client.ts';
import { createLogger } from '../../../platform/telemetry/logger.ts';
import type { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type ItemSchema, type Run, RunNameSchema, Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { startCuttable } from './cuttable.ts';

export const options = { timeoutMs: 20_000 };
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** One flow per thing that a module can do. */
const flows = [
  `{ flow: echo, business: test, steps: { upper: { call: test.upper, send: [text], receive: [text] } } }`,
  `{ flow: fragile, business: test, steps: { try: { call: test.fragile, retry: { tries: 1 } } } }`,
  `{ flow: sleepy, business: test, steps: { try: { call: test.fragile, retry: { tries: 5, first: 1h, max: 1h } } } }`,
  `{ flow: losing, business: test, steps: { try: { call: test.losing, max_losses: 1 } } }`,
  `{ flow: gated, business: test, steps: { wait: { call: test.gated, receive: [done] } } }`,
].map((text) => {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return { text, flow: parsed.flow };
});

/** What modules do; tests change it. */
export interface Behaviour {
  /** test.fragile fails while it is set. */
  broken: boolean;
  /** Calls of test.losing lose their connection while it is set. */
  cutting: boolean;
  /** test.gated answers when it resolves. */
  gate: Promise<void>;
}

export interface World {
  readonly behaviour: Behaviour;
  readonly client: Client<typeof Runs>;
  readonly engine: Engine;
  /** What the engine logged. */
  readonly logged: readonly string[];
  /** Stops the engine and starts it again on the same folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startWorld(dispatch: Partial<DispatchSettings> = {}): Promise<World> {
  const data = await mkdtemp(`${tmpdir()}/weir-world-`);
  const behaviour: Behaviour = { broken: false, cutting: false, gate: Promise.resolve() };
  const { modules, stop: stopModules } = await serveModules(behaviour);
  const logged: string[] = [];
  const start = async () => {
    const engine = await assemble({
      ...{ data, modules, flows, dispatch },
      address: '127.0.0.1:0',
      logger: createLogger({ nowMs: () => 0 }, (line) => logged.push(line)),
      onFatal: (cause) => logged.push(cause),
    });
    return { engine, client: connect(Runs, engine.address) };
  };
  let running = await start();
  const stop = async () => {
    running.client.close();
    await running.engine.stop();
  };
  return {
    ...{ behaviour, logged },
    get client() {
      return running.client;
    },
    get engine() {
      return running.engine;
    },
    restart: async () => {
      await stop();
      running = await start();
    },
    close: async () => {
      await stop();
      await stopModules();
      await rm(data, { recursive: true });
    },
  };
}

async function serveModules(
  behaviour: Behaviour,
): Promise<{ modules: readonly ModuleSetting[]; stop: () => Promise<void> }> {
  const serving = { address: '127.0.0.1:0', handleSignals: false, graceMs: 0 };
  const upper = await serveModule(
    {
      ...{ name: 'test.upper', input: { text: 'string' }, output: { text: 'string' } },
      process: ({ fields }) => ({ text: fields.text.toUpperCase() }),
    },
    serving,
  );
  const fragile = await serveModule(
    {
      ...{ name: 'test.fragile', input: {}, output: {} },
      process: () => {
        if (behaviour.broken) throw failed('broken for now');
        return {};
      },
    },
    serving,
  );
  const losing = await serveModule(
    {
      ...{ name: 'test.losing', input: {}, output: {} },
      process: () => {
        if (behaviour.cutting) cuttable.cut();
        return {};
      },
    },
    serving,
  );
  const cuttable = await startCuttable(losing.port);
  const gated = await serveModule(
    {
      ...{ name: 'test.gated', input: {}, output: { done: 'bool' } },
      process: async () => {
        await behaviour.gate;
        return { done: true };
      },
    },
    serving,
  );
  const served: ServedModule[] = [upper, fragile, losing, gated];
  const addresses = served.map(({ name, address }) => [
    name,
    { endpoints: [name === 'test.losing' ? cuttable.address : address] },
  ]);
  const reading = readModules(JSON.stringify({ modules: Object.fromEntries(addresses) }));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const stop = async () => {
    for (const module of served) await module.stop();
    await cuttable.stop();
  };
  return { modules: reading.value, stop };
}

type ItemInit = Exclude<MessageInitShape<typeof ItemSchema>, { $typeName: string }>;

/** An item of one text field. */
export function item(flow: string, key: string, text = 'text'): ItemInit {
  return { business: 'test', flow, key: bytes(key), fields: [{ key: bytes('text'), value: bytes(text) }] };
}

export function name(flow: string, key: string, generation = 0) {
  return create(RunNameSchema, { business: 'test', flow, key: bytes(key), generation });
}

/** Asks until a run is as it is wanted: how soon is up to the machine, that it comes is not. */
export async function until(world: World, flow: string, key: string, wanted: (run: Run) => boolean): Promise<Run> {
  for (;;) {
    const { run } = await world.client.get({ run: name(flow, key), withFields: true, withExecutions: true }, options);
    if (run && wanted(run)) return run;
  }
}

export function untilState(world: World, flow: string, key: string, state: State): Promise<Run> {
  return until(world, flow, key, (run) => run.status?.state === state);
}

/** Asks until a run is there. */
export async function untilThere(world: World, flow: string, key: string): Promise<void> {
  while (true) {
    const { runs } = await world.client.list({ filter: { flow } }, options);
    if (runs.some((run) => Buffer.from(run.name?.key ?? []).toString() === key)) return;
  }
}
