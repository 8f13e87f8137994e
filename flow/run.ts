// The state of a run, as the core sees it.
//
// Ownership: `apply` (apply.ts) is the only writer; whoever holds a Run gives it to `apply` and uses what comes back.
// Everybody else reads. Adapters of the store translate it to and from the messages of weir.run.v1 (store/codec.ts).
//
// Invariants:
//   R1  A step without a state was not reached in this round.
//   R2  Fields and steps never disappear, except when a retry re-arms a step, and branches that are dealt with.
//   R3  `status.outcomeNumber` rises by one each time a run ends, and at no other time.

import type { FieldReference } from '../proto/gen/weir/module/v1/module_pb.js';
import type { Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';

/** Identity of a run: `generation/business/flow/key`, the key's bytes as Latin-1. See run-id.ts. */
export type RunId = string & { readonly brand: 'RunId' };

export interface Holder {
  readonly processId: string;
  /** New for each start of the process. */
  readonly incarnation: string;
  readonly claimedMs: number;
}

export interface Status {
  readonly state: State;
  /** Why it failed or was parked; UNSPECIFIED otherwise. */
  readonly reason: Reason;
  /** For people. */
  readonly detail: string;
  readonly outcomeNumber: number;
  /** When ENDING: the terminal state that follows once the obligations are done. */
  readonly outcome: State;
  readonly sinceMs: number;
  /** Row key, steps and endpoints involved in a failure or parking. */
  readonly evidence: readonly string[];
}

/** Where the store's index finds the run; replaced as a whole. */
export interface IndexEntries {
  /** May go on now: found by level, business and order. */
  readonly ready: boolean;
  /** Earliest time at which it wants attention, in ms since 1970. */
  readonly timerMs?: number;
  /** Held: when its holder may be asked, in ms since 1970. */
  readonly leaseMs?: number;
}

/** Everything about a run that is not a step or a field. */
export interface Control {
  readonly business: string;
  readonly itemKey: Uint8Array;
  readonly flow: string;
  readonly generation: number;
  readonly flowVersion: number;
  /** 1 (first) to 9. */
  readonly level: number;
  /** Place in its level, kept for ever. */
  readonly order: number;
  readonly creationHash: Uint8Array;
  readonly createdMs: number;
  readonly deadlineMs: number;
  readonly inputBytes: number;
  readonly superseded: boolean;
  readonly status: Status;
  /** The step that started this run; absent when a person or a source did. */
  readonly parent?: Parent;
  /** What modules get as row key where it isn't the item key: that of the item which a chain of runs began with. */
  readonly rowKey?: Uint8Array;
}

export interface Parent {
  readonly run: RunId;
  /** Path of the step that started this run, and its round then. */
  readonly step: string;
  readonly round: number;
  /** Whether it waits for the end. */
  readonly waits: boolean;
  /** Names of the fields that it wants to hear at the end. */
  readonly receive: readonly string[];
  /** Length of the chain of runs that started each other without waiting, this one included. */
  readonly chain: number;
}

export interface StepState {
  readonly status: StepStatus;
  /** Rises only when a person or a rule retries or rewinds. From 1. */
  readonly round: number;
  /** Spent in this round. */
  readonly attempts: number;
  /** Calls of this round whose end nobody knows. */
  readonly losses: number;
  /** Answers of this round that declined. */
  readonly declines: number;
  /** Code of the last answer that had one. */
  readonly code?: number;
  readonly message: string;
  readonly reason: Reason;
  readonly startedMs: number;
  readonly endedMs: number;
  /** When SLEEPING: the time of the next call, in ms since 1970. */
  readonly dueMs: number;
  /** A SWITCH that is done: the steps it chose. A JOIN: what was done of the steps that it need not wait for. */
  readonly chosen: readonly string[];
  /** The run that this step started and waits for. */
  readonly child?: RunId;
  /** The last outcome of the child that the step has heard of; it waits for a later one. */
  readonly childOutcome?: number;
  /** Of a step that does the same for every element of a list. */
  readonly branches?: Branches;
}

/** Which elements of a list are dealt with. Those under way have states of their own, under `<step>[<index>]`. */
export interface Branches {
  readonly count: number;
  /** A bit for each element; the lowest bit of the first byte is element 0. */
  readonly done: Uint8Array;
  readonly failed: Uint8Array;
  /** The first element that was not looked at in this round. */
  readonly next: number;
}

/** The value of a field: bytes, or where they are kept. */
export interface FieldValue {
  readonly bytes: Uint8Array;
  readonly reference?: FieldReference;
}

export interface Run {
  readonly id: RunId;
  readonly control: Control;
  /** By step path: an id; `<id>[<index>]`, a branch; `exit/<index>`, an exit call; `tell/…`, something to tell another run. */
  readonly steps: ReadonlyMap<string, StepState>;
  /** By `writer/name`; the writer of what came with the item is `input`. */
  readonly fields: ReadonlyMap<string, FieldValue>;
}

export const inputWriter = 'input';

export function fieldKey(writer: string, name: string): string {
  return `${writer}/${name}`;
}

/** Writer and name of a field key. Names contain no slash; the path of a writer may. */
export function splitFieldKey(key: string): { writer: string; name: string } {
  const slash = key.lastIndexOf('/');
  return { writer: key.slice(0, slash), name: key.slice(slash + 1) };
}
