// What happened in a history, in numbers, and whether it was enough for its being clean to mean something.

import type { RunId } from '../../flow/run.ts';
import { Ending, type InboxEvent, type State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { StoredView } from './checkers/checker.ts';
import type { FaultKind } from './world/fault-kinds.ts';
import type { HistoryRecord, WriteHappening } from './world/history.ts';

export interface Counts {
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly runs: number;
  readonly runsByState: ReadonlyMap<State, number>;
  /** Runs that others have started. */
  readonly children: number;
  /** Events that came into inboxes. */
  readonly eventsByKind: ReadonlyMap<EventKind, number>;
  readonly writesAccepted: number;
  readonly writesRefused: number;
  /** Of those refused: by a holder that had lost the run to another claim. */
  readonly staleWritesRefused: number;
  readonly callsAnswered: number;
  /** Calls with a key that was delivered before. */
  readonly callsRepeated: number;
  /** Calls that waited for a place and were taken back. */
  readonly callsWithdrawn: number;
  /** From healing until everything was at rest. */
  readonly restMs: number;
  /** Kinds of fault that this world has and that did not strike, though there was every occasion. */
  readonly silentFaults: readonly FaultKind[];
}

export type EventKind = Exclude<InboxEvent['kind']['case'], undefined>;

/** A kind of fault that should have struck so often on average strikes at least once, in all but one of 150 worlds. */
const occasionStrikes = 5;
/** Fewer good answers than half the runs: nothing got done. */
const leastAnswersPerRun = 0.5;

export interface Measured {
  readonly history: readonly HistoryRecord[];
  readonly stored: ReadonlyMap<RunId, StoredView>;
  readonly restMs: number;
  /** How often each kind of fault should have struck, on average. */
  readonly expectedFaults: ReadonlyMap<FaultKind, number>;
}

export function countsOf({ history, stored, restMs, expectedFaults }: Measured): Counts {
  const faults = new Map<FaultKind, number>();
  const runsByState = new Map<State, number>();
  const eventsByKind = new Map<EventKind, number>();
  const keys = new Set<string>();
  let [writesAccepted, writesRefused, staleWritesRefused] = [0, 0, 0];
  let [callsAnswered, callsRepeated, callsWithdrawn] = [0, 0, 0];
  for (const record of history) {
    if (record.kind === 'fault') faults.set(record.fault, (faults.get(record.fault) ?? 0) + 1);
    if (record.kind === 'write' && record.result === 'done') writesAccepted++;
    if (record.kind === 'write' && record.result !== 'done') writesRefused++;
    if (record.kind === 'write' && isStale(record)) staleWritesRefused++;
    if (record.kind === 'withdrawal') callsWithdrawn++;
    const event = record.kind === 'post' && record.result === 'done' ? record.event.kind.case : undefined;
    if (event !== undefined) eventsByKind.set(event, (eventsByKind.get(event) ?? 0) + 1);
    if (record.kind === 'delivery' && record.ending === Ending.SUCCEEDED) callsAnswered++;
    if (record.kind !== 'receipt') continue;
    if (keys.has(record.call.callKey)) callsRepeated++;
    keys.add(record.call.callKey);
  }
  for (const { control } of stored.values()) {
    const { state } = control.status;
    runsByState.set(state, (runsByState.get(state) ?? 0) + 1);
  }
  const silentFaults = [...expectedFaults.keys()].filter(
    (kind) => !faults.has(kind) && (expectedFaults.get(kind) ?? 0) >= occasionStrikes,
  );
  const writes = { writesAccepted, writesRefused, staleWritesRefused };
  const calls = { callsAnswered, callsRepeated, callsWithdrawn };
  const children = [...stored.values()].filter(({ control }) => control.parent !== undefined).length;
  return { faults, runs: stored.size, runsByState, children, eventsByKind, ...writes, ...calls, restMs, silentFaults };
}

/** Why a history proves nothing; undefined when it counts. */
export function emptiness({ runs, callsAnswered, faults, silentFaults }: Counts): string | undefined {
  if (runs === 0) return 'no item was taken in';
  if (callsAnswered < runs * leastAnswersPerRun) return `${callsAnswered} calls were answered well for ${runs} runs`;
  if (faults.size === 0) return 'nothing went wrong';
  return silentFaults.length > 0 ? `no ${silentFaults.join(', no ')}` : undefined;
}

function isStale({ operation, result, expected, before }: WriteHappening): boolean {
  return operation === 'commit' && result === 'fenced' && (expected?.epoch ?? 0) < (before?.epoch ?? 0);
}
