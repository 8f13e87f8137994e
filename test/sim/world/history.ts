// What happened in a world, as its clients, its modules and its store saw it: what the checkers judge. Nothing here comes from
// the engine's own counters.

import type { Changes } from '../../../flow/change.ts';
import type { RunId } from '../../../flow/run.ts';
import type { Ending, InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence } from '../../../store/port.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { VirtualTime } from './time.ts';

export type Happening =
  | ProcessHappening
  | { readonly kind: 'healed' }
  | { readonly kind: 'fault'; readonly fault: FaultKind; readonly where: string }
  | { readonly kind: 'error'; readonly process: string; readonly doing: string; readonly message: string }
  | WriteHappening
  | PostHappening
  | CallHappening
  | DeliveryHappening
  | AnswerHappening
  | WithdrawalHappening
  | ClientHappening;

export interface ProcessHappening {
  readonly kind: 'process';
  readonly process: string;
  readonly what: 'started' | 'crashed' | 'paused' | 'stopping' | 'stopped';
}

/** A write reached the store, which accepted or refused it. */
export interface WriteHappening {
  readonly kind: 'write';
  readonly operation: 'create' | 'claim' | 'commit';
  readonly run: RunId;
  readonly writeId: string;
  readonly process: string;
  readonly result: 'done' | 'fenced' | 'exists' | 'refused';
  /** Of the row just before; absent when there was none. */
  readonly before?: Fence;
  /** What the writer believed; absent for a create. */
  readonly expected?: Fence;
  /** Of the row just after. */
  readonly after?: Fence;
  readonly changes: Changes;
  readonly release: boolean;
}

/** An event reached the store. */
export interface PostHappening {
  readonly kind: 'post';
  readonly run: RunId;
  readonly event: InboxEvent;
  readonly process: string;
  readonly result: 'done' | 'duplicate' | 'absent';
}

/** A dispatch performs a call. */
export interface CallHappening {
  readonly kind: 'call';
  /** Names the call in this history; one per performing, not per key. */
  readonly number: number;
  readonly process: string;
  readonly run: RunId;
  readonly step: string;
  readonly round: number;
  readonly attempt: number;
  readonly epoch: number;
  readonly callKey: string;
}

/** A module received a call, and answered. The answer may come to nobody. */
export interface DeliveryHappening {
  readonly kind: 'delivery';
  readonly call: CallHappening;
  readonly endpoint: string;
  readonly ending: Ending;
  /** Name and value of the fields of the answer. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The caller hears how its call ended. */
export interface AnswerHappening {
  readonly kind: 'answer';
  readonly call: CallHappening;
  readonly ending: Ending;
}

/** The caller takes back a call that waits for a place: no module ever hears of it. */
export interface WithdrawalHappening {
  readonly kind: 'withdrawal';
  readonly call: CallHappening;
}

export interface ClientHappening {
  readonly kind: 'client';
  readonly what: 'submitted' | 'acknowledged' | 'refused' | 'event acknowledged' | 'event refused';
  readonly run: RunId;
  /** Of an event its id, of a refusal its cause. */
  readonly detail: string;
}

export type HistoryRecord = Happening & { readonly atMs: number };

export class History {
  readonly records: HistoryRecord[] = [];
  readonly #time: VirtualTime;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  add(happening: Happening): void {
    this.records.push({ ...happening, atMs: this.#time.elapsedMs });
  }
}
