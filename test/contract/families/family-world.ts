// One engine as `weir up` assembles it, with flows that start one another, and one module that counts what it is asked.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { create } from '@bufbuild/protobuf';
import { fatal, serveModule } from '@weir/module';
import { assemble, type Engine } from '../../../cli/up/assemble.ts';
import { readCallbackHosts } from '../../../dispatch/modules/callback-hosts.ts';
import { readModules } from '../../../dispatch/modules/configuration.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { type Client, connect } from '../../../platform/rpc/client.ts';
import { createLogger } from '../../../platform/telemetry/logger.ts';
import { Flows } from '../../../proto/gen/weir/flow/v1/flows_pb.js';
import type { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type Run, type RunName, RunNameSchema, Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';

export const options = { timeoutMs: 20_000 };
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface FamilyWorld {
  readonly client: Client<typeof Runs>;
  readonly engine: Engine;
  /** Calls of a step, by `flow/step`, of all items; branches count as their step. */
  calls(step: string): number;
  /** Call keys of a step, in the order of their calls. */
  callKeys(step: string): readonly string[];
  /** Row keys that a step was called with. */
  rowKeys(step: string): readonly string[];
  /** Steps that answer FATAL_ERROR. */
  readonly failing: Set<string>;
  /** Calls of this step are answered only once the answer was called. */
  hold(step: string): () => void;
  /** What the engine logged. */
  readonly logged: readonly string[];
  /** Stores a flow as its next version, and releases it. */
  release(text: string): Promise<void>;
  submit(flow: string, key: string, fields?: Record<string, string>): Promise<void>;
  /** Asks until a run is as it is wanted: how soon is up to the machine, that it comes is not. */
  until(name: RunName, wanted: (run: Run) => boolean): Promise<Run>;
  untilState(name: RunName, state: State): Promise<Run>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export function named(flow: string, key: string): RunName {
  return create(RunNameSchema, { business: 'test', flow, key: bytes(key) });
}

/** The run that a step of another started. */
export function childOf(run: Run, step: string): RunName {
  const child = run.steps.find(({ id }) => id === step)?.child;
  if (!child) throw new Error(`step ${step} started no run`);
  return child;
}

export function fieldOf(run: Run, writer: string, name: string): string | undefined {
  const field = run.fields.find((each) => each.writer === writer && each.name === name);
  return field?.cell && Buffer.from(field.cell.value).toString();
}

/** `callbackHosts`: as of `weir up --callback-hosts`. */
export async function startFamilyWorld(texts: readonly string[], callbackHosts?: string): Promise<FamilyWorld> {
  const hosts = callbackHosts === undefined ? undefined : readCallbackHosts(callbackHosts);
  if (hosts?.ok === false) throw new Error(hosts.problem);
  const data = await mkdtemp(`${tmpdir()}/weir-family-`);
  const flows = texts.map((text) => {
    const parsed = parseFlow(text);
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    return { text, flow: parsed.flow };
  });
  const module = await countingModule();
  const logged: string[] = [];
  const start = async () => {
    const engine = await assemble({
      ...{ data, modules: module.settings, flows, ...(hosts && { callbackHosts: hosts.hosts }) },
      address: '127.0.0.1:0',
      logger: createLogger({ nowMs: () => 0 }, (line) => logged.push(line)),
      onFatal: (cause) => logged.push(cause),
      dispatch: { drainMs: 500 },
    });
    return { engine, client: connect(Runs, engine.address) };
  };
  let running = await start();
  const stop = async () => {
    running.client.close();
    await running.engine.stop();
  };
  const until = async (run: RunName, wanted: (run: Run) => boolean): Promise<Run> => {
    for (;;) {
      const found = await running.client.get({ run, withFields: true }, options);
      if (found.run && wanted(found.run)) return found.run;
    }
  };
  return {
    ...module,
    logged,
    until,
    untilState: (run, state) => until(run, ({ status }) => status?.state === state),
    get client() {
      return running.client;
    },
    get engine() {
      return running.engine;
    },
    release: async (text) => {
      const flows = connect(Flows, running.engine.address);
      const { problems } = await flows.push({ text, release: true }, options);
      flows.close();
      if (problems.length > 0) throw new Error(JSON.stringify(problems));
    },
    submit: async (flow, key, fields = { text: 'text' }) => {
      const sent = Object.entries(fields).map(([field, value]) => ({ key: bytes(field), value: bytes(value) }));
      const item = { business: 'test', flow, key: bytes(key), fields: sent };
      const { results } = await running.client.submit({ items: [item] }, options);
      if (results[0]?.result.case !== 'accepted') throw new Error(JSON.stringify(results[0]?.result.value));
    },
    restart: async () => {
      await stop();
      running = await start();
    },
    close: async () => {
      await stop();
      await module.stop();
      await rm(data, { recursive: true });
    },
  };
}

async function countingModule() {
  const called: Array<{ step: string; callKey: string; rowkey: string }> = [];
  const failing = new Set<string>();
  const gates = new Map<string, Promise<void>>();
  const served = await serveModule(
    {
      ...{ name: 'test.work', input: { text: 'string?' }, output: { out: 'string' } },
      process: async ({ fields, call }) => {
        const step = `${call.flow}/${call.step?.replace(/\[\d+\]$/, '')}`;
        called.push({ step, callKey: call.callKey ?? '', rowkey: Buffer.from(call.rowkey ?? []).toString() });
        await gates.get(step);
        if (failing.has(step)) throw fatal(`${step} fails for now`);
        return { out: (fields.text ?? '').toUpperCase() };
      },
    },
    { address: '127.0.0.1:0', handleSignals: false, graceMs: 0, concurrency: 256 },
  );
  const reading = readModules(JSON.stringify({ modules: { 'test.work': { endpoints: [served.address] } } }));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const of = (step: string) => called.filter((each) => each.step === step);
  return {
    failing,
    settings: reading.value,
    calls: (step: string) => of(step).length,
    callKeys: (step: string) => of(step).map(({ callKey }) => callKey),
    rowKeys: (step: string) => of(step).map(({ rowkey }) => rowkey),
    hold: (step: string) => {
      const gate = Promise.withResolvers<void>();
      gates.set(step, gate.promise);
      return () => {
        gates.delete(step);
        gate.resolve();
      };
    },
    stop: () => served.stop(),
  };
}
