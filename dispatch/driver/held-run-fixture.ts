// A run held after its creation as claimed, in a world where calls and errands wait until the test says what came of them.

import { mergeChanges } from '../../flow/change.ts';
import { compileFlow } from '../../flow/compile.ts';
import { decideAll } from '../../flow/decide.ts';
import { parseFlow } from '../../flow/definition/definition.ts';
import type { StartEffect, TellEffect } from '../../flow/effect.ts';
import type { ChildSeen } from '../../flow/event.ts';
import { newRun } from '../../flow/new-run.ts';
import type { Parent } from '../../flow/run.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import type { CallOutcome, ModuleCall, PendingCall } from '../modules/port.ts';
import { dispatchDefaults } from '../settings.ts';
import type { Errands } from './errand.ts';
import { HeldRun, type Parting } from './held-run.ts';
import type { DispatchPorts } from './ports.ts';

const twoCalls = `
flow: two
business: test
deadline: 10m
steps:
  first: { call: m, send: [text], receive: [] }
  second: { after: [first], call: m, send: [text] }
`;

export interface Out {
  readonly call: ModuleCall;
  readonly done: (outcome: CallOutcome) => void;
  aborted: boolean;
  waiting: boolean;
}

interface SentStart {
  readonly effect: StartEffect;
  readonly done: (seen: ChildSeen) => void;
  givenUp: boolean;
}

interface SentTell {
  readonly effect: TellEffect;
  readonly done: () => void;
  givenUp: boolean;
}

export interface HeldOptions {
  readonly onCall?: (out: Out) => void;
  /** Of the flow; two calls one after the other by default. */
  readonly text?: string;
  readonly parent?: Parent;
  readonly rowKey?: Uint8Array;
}

export async function held({ onCall = () => {}, text = twoCalls, ...more }: HeldOptions = {}) {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  const plan = compileFlow(parsed.flow, 1);
  const clock = new ManualClock();
  const store = new MemoryStore();
  const errors: string[] = [];
  const calls: Out[] = [];
  const parted: Parting[] = [];
  const starts: SentStart[] = [];
  const tells: SentTell[] = [];
  const errands: Errands = {
    start: (effect, done) => {
      const sent = { effect, done, givenUp: false };
      starts.push(sent);
      return { giveUp: () => (sent.givenUp = true) };
    },
    tell: (_, effect, done) => {
      const sent = { effect, done, givenUp: false };
      tells.push(sent);
      return { giveUp: () => (sent.givenUp = true) };
    },
  };
  let ids = 0;
  let grown = 0;
  const call = (called: ModuleCall, done: Out['done']): PendingCall => {
    const out: Out = { call: called, done, aborted: false, waiting: true };
    onCall(out);
    calls.push(out);
    return {
      abort: () => (out.aborted = true),
      withdraw: () => out.waiting && (out.aborted = true),
    };
  };
  const ports = {
    ...{ clock, store, random: () => 0.5, ids: { next: () => `write-${++ids}` }, modules: { call } },
    onError: (error: unknown, doing: string) => errors.push(`${doing}: ${(error as Error).message}`),
  } as unknown as DispatchPorts;
  const settings = dispatchDefaults;
  const contextNow = () => ({ nowMs: clock.nowMs(), random: () => 0.5, endingDeadlineMs: 60_000 });
  const keeper = {
    ports,
    settings,
    errands,
    get context() {
      return contextNow();
    },
    grown: (bytes: number) => (grown += bytes),
    parted: (_: HeldRun, why: Parting) => parted.push(why),
  };
  const fields = new Map([['text', { bytes: new Uint8Array(3) }]]);
  const from = {
    itemKey: Uint8Array.of(1),
    generation: 1,
    level: 5,
    order: 1,
    creationHash: new Uint8Array(),
    ...more,
  };
  const initial = newRun(plan, { ...from, fields, nowMs: clock.nowMs() });
  const { run, changes, effects } = decideAll(plan, initial.run, [{ kind: 'claimed', barrenClaims: 1 }], contextNow());
  mergeChanges(initial.changes, changes);
  const holder = { processId: 'p', incarnation: 'i', claimedMs: clock.nowMs() };
  const write = { run: run.id, writeId: 'create', changes: initial.changes, holder };
  await store.create({ ...write, entries: { ready: false, leaseMs: 1 } });
  const tested = new HeldRun(keeper, plan, run, { epoch: 1, version: 1 });
  const begin = () => tested.begin(effects);
  const stored = async () => (await store.load(run.id)) ?? fail('the run is gone');
  return { tested, begin, clock, store, calls, starts, tells, parted, errors, stored, run: run.id };
}

export const succeeded: CallOutcome = {
  answer: { ending: Ending.SUCCEEDED, code: 0, message: '', fields: new Map() },
  tries: [{ endpoint: 'e', ending: Ending.SUCCEEDED, code: 0, message: '', startedMs: 0, durationUs: 1 }],
};

function fail(message: string): never {
  throw new Error(message);
}
