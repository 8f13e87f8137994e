// What happened in a world, as its clients, its modules and its store saw it: what the checkers judge. Nothing here comes from
// the engine's own counters.

import type { Changes } from '../../../flow/change.ts';
import type { Holder, IndexEntries, RunId } from '../../../flow/run.ts';
import type { Ending, InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence } from '../../../store/port.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { VirtualTime } from './time.ts';

export type Happening =
  | WorldHappening
  | ProcessHappening
  | { readonly kind: 'healed' }
  | { readonly kind: 'fault'; readonly fault: FaultKind; readonly where: string }
  | { readonly kind: 'error'; readonly process: string; readonly doing: string; readonly message: string }
  | WriteHappening
  | ToldHappening
  | PeekHappening
  | PromotionHappening
  | PostHappening
  | CallHappening
  | ReceiptHappening
  | DeliveryHappening
  | AnswerHappening
  | WithdrawalHappening
  | FlowHappening
  | ClientHappening;

/** How a world is. Comes first. */
export interface WorldHappening {
  readonly kind: 'world';
  readonly processes: readonly string[];
  /** The kinds that may strike. */
  readonly faults: readonly FaultKind[];
  /** Items that kill whoever works on them, as `business/flow/key`. */
  readonly poison: readonly string[];
  /** No other fault leaves the end of a call unknown or takes a run from its holder. */
  readonly isOnlyPoisoned: boolean;
}

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
  /** Who holds the run from now on: of a claim, and of a creation as claimed. */
  readonly holder?: Holder;
  readonly release: boolean;
  /** Of a create, a claim, or a commit that lets go: where the index finds the run from now on. */
  readonly entries?: IndexEntries;
  /** Of a create: the generation that it takes the place of. */
  readonly supersedes?: RunId;
}

/** A process hears what became of a write that it sent, or that nobody knows. */
export interface ToldHappening {
  readonly kind: 'told';
  readonly process: string;
  readonly run: RunId;
  readonly writeId: string;
  readonly result: WriteHappening['result'] | 'unknown';
}

/** A process asks for the head of a run. */
export interface PeekHappening {
  readonly kind: 'peek';
  readonly process: string;
  readonly run: RunId;
}

/** The store made a run whose timer was due ready too. */
export interface PromotionHappening {
  readonly kind: 'promotion';
  readonly run: RunId;
  readonly process: string;
  /** As the promoter saw it, and as it was. */
  readonly seen: Fence;
  readonly actual: Fence;
  readonly before: IndexEntries;
  readonly after: IndexEntries;
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

/** A request came to a process of a module, which begins to work on it. */
export interface ReceiptHappening {
  readonly kind: 'receipt';
  readonly call: CallHappening;
  readonly endpoint: string;
  readonly request: SeenRequest;
  /** The network made another of one request: nobody hears what comes of it. */
  readonly isCopy: boolean;
}

/** A module answers a request, which is no copy. The answer may come to nobody. */
export interface DeliveryHappening {
  readonly kind: 'delivery';
  readonly call: CallHappening;
  readonly endpoint: string;
  readonly request: SeenRequest;
  /** By the contract of modules, whatever the engine makes of what was sent. */
  readonly ending: Ending;
  /** Name and value of the fields of the answer. */
  readonly fields: ReadonlyMap<string, string>;
}

/** A request as the module saw it. Keys and values byte by byte, as Latin-1. */
export interface SeenRequest {
  readonly rowkey: string;
  readonly step: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly callKey: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** The caller hears how its call ended. */
export interface AnswerHappening {
  readonly kind: 'answer';
  readonly call: CallHappening;
  /** As the caller heard it; VIOLATION when a declared field that came isn't of its type, which only the flow can see. */
  readonly ending: Ending;
  /** Name and value of the fields that came with it, as Latin-1. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The caller takes back a call that waits for a place: no module ever hears of it. */
export interface WithdrawalHappening {
  readonly kind: 'withdrawal';
  readonly call: CallHappening;
}

/** Versions of flows: each is published once, and released as often as somebody wishes. */
export interface FlowHappening {
  readonly kind: 'flow';
  readonly what: 'published' | 'released';
  readonly flow: string;
  readonly version: number;
}

export interface ClientHappening {
  readonly kind: 'client';
  /** `turned away`: refused, as a submission may be that conflicts with what is there. */
  readonly what: 'submitted' | 'acknowledged' | 'turned away' | 'refused' | 'event acknowledged' | 'event refused';
  /** Of a submission: the run that it asks for, or got. */
  readonly run: RunId;
  /** Of an event its id, of a refusal its cause. */
  readonly detail: string;
  /** Of whatever a submission brings about. */
  readonly submission?: Submission;
}

export interface Submission {
  /** Names it in this history, however often it is sent. */
  readonly number: number;
  /** 0: none is expected to be there. */
  readonly expectedGeneration: number;
  /** Name and value. */
  readonly fields: ReadonlyMap<string, string>;
  /** Of one that was acknowledged: whether this sending created the run. */
  readonly created?: boolean;
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
