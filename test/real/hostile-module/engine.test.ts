// The whole engine against a module that breaks the contract in every way there is: each run ends as the table of return codes
// says, and the others are unharmed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assemble, type Engine } from '../../../cli/up/assemble.ts';
import { readModules } from '../../../dispatch/modules/configuration.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { systemClock } from '../../../platform/clock/system-clock.ts';
import { type Client, connect } from '../../../platform/rpc/client.ts';
import { createLogger } from '../../../platform/telemetry/logger.ts';
import { AlarmKind, Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type Run, Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { type HostileModule, startHostileModule } from './hostile.ts';

const text = `
flow: hostile
business: test
deadline: 6s
steps:
  work: { call: hostile, send: [text], receive: [], timeout: 400ms, max_losses: 2, retry: { tries: 2, first: 10ms, max: 20ms } }
`;

const succeeded = { state: State.SUCCEEDED, reason: Reason.UNSPECIFIED };
const failed = (reason: Reason) => ({ state: State.FAILED, reason });
const exhausted = failed(Reason.EXHAUSTED);
const violation = failed(Reason.VIOLATION);
const rejected = failed(Reason.REJECTED);
const parked = { state: State.PARKED, reason: Reason.POISON };
/** Declined until the deadline: no attempt is spent however long it takes. */
const waited = failed(Reason.DEADLINE);

const expectations: Record<string, { state: State; reason: Reason }> = {
  well: succeeded,
  'code-0x00': succeeded,
  'code-0x40': rejected,
  'code-0x41': rejected,
  'code-0x42': rejected,
  'code-0x43': exhausted,
  'code-0x44': exhausted,
  'code-0x45': exhausted,
  'code-0x92': exhausted,
  'code-0x81': waited,
  'code-0x91': waited,
  'code-0x90': waited,
  'code-0x93': failed(Reason.FATAL),
  'code-0x77': violation,
  'code-absent': violation,
  'rowkey-other': violation,
  'rowkey-absent': succeeded,
  garbage: violation,
  huge: violation,
  hang: exhausted,
  late: exhausted,
  'status-2': exhausted,
  'status-7': exhausted,
  'status-13': exhausted,
  'status-14': exhausted,
  drop: parked,
  exit: parked,
};

let folder: string;
let module: HostileModule;
let engine: Engine;
let runs: Client<typeof Runs>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-hostile-'));
  module = await startHostileModule();
  const modules = readModules(`modules: { hostile: { endpoints: ['${module.address}'] } }`);
  const parsed = parseFlow(text);
  if (!modules.ok || parsed.kind === 'problems') throw new Error('the fixture is not valid');
  engine = await assemble({
    data: join(folder, 'data'),
    address: '127.0.0.1:0',
    modules: modules.value,
    flows: [{ text, flow: parsed.flow }],
    logger: createLogger(systemClock, () => {}),
    onFatal: (cause) => {
      throw new Error(cause);
    },
  });
  runs = connect(Runs, engine.address);
});

afterAll(async () => {
  runs.close();
  await engine.stop();
  await module.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a run whose module answers', () => {
  // One after the other: a connection that is cut takes every call on it along.
  it.each(Object.entries(expectations))('%s', async (behaviour, expected) => {
    const run = await ended(behaviour);
    expect({ state: run.status?.state, reason: run.status?.reason }).toEqual(expected);
    const step = run.steps[0]?.cell;
    if (expected === exhausted || expected === violation) expect(step?.attempts).toBe(2);
    if (expected === waited) expect(step?.attempts).toBe(0);
    if (expected === parked) expect(step?.losses).toBe(3);
    const { alarms } = await runs.listAlarms({ pageSize: 1_000 }, { timeoutMs: 5_000 });
    const own = alarms.filter(({ itemKey }) => Buffer.from(itemKey).toString() === behaviour).map(({ kind }) => kind);
    if (expected.state === State.FAILED) expect(own).toContain(AlarmKind.RUN_FAILED);
    if (expected === parked) expect(own).toContain(AlarmKind.RUN_PARKED);
  });

  it('and ends its process again and again, without harm to those that share it', async () => {
    const others = Array.from({ length: 40 }, (_, index) => ended(`well#beside-${index}`));
    const [poison, ...unharmed] = await Promise.all([ended('exit#beside-others'), ...others]);
    expect(poison?.status?.state).toBe(State.PARKED);
    expect(new Set(unharmed.map(({ status }) => status?.state))).toEqual(new Set([State.SUCCEEDED]));
  });
});

async function ended(key: string): Promise<Run> {
  const encoder = new TextEncoder();
  const name = { business: 'test', flow: 'hostile', key: encoder.encode(key) };
  const fields = [{ key: encoder.encode('text'), value: encoder.encode('hello') }];
  const { results } = await runs.submit({ items: [{ ...name, fields }] }, { timeoutMs: 5_000 });
  expect(results[0]?.result.case).toBe('accepted');
  for (;;) {
    const { run } = await runs.get({ run: name }, { timeoutMs: 5_000 });
    const state = run?.status?.state;
    if (run && state !== State.OPEN && state !== State.ENDING) return run;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
