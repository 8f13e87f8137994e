// The port to the store: what the roles ask of whatever keeps the runs. Adapters: memory, sqlite, hbase. One suite holds for all
// (test/contract/store.contract.ts).
//
// Promises of an adapter:
//   S1  A write is atomic: run row, cells, index entries, inbox rows, executions and alarms of one write change together or
//       not at all. Each write succeeds or fails for itself, also when the adapter sends many at once.
//   S2  A claim or commit is accepted only when the run's fence equals `expected`; it then becomes epoch + 1, version + 1 for a
//       claim, and version + 1 for a commit.
//   S3  What was answered `done` survives the death of the process.
//   S4  `unknown` means: the write may or may not have been applied, or may be applied later. The caller reads back with
//       `peek` and sends the identical write again (protocol §3). No other answer leaves that doubt.
//   S5  A scan sees every entry that is there from its beginning to its end.
//   S6  A read shows what the store was at some time, some seconds ago perhaps: only writes are sure to meet the present. `load`
//       shows one state of its run, and with it the events as they were then or later; so does `inbox` beside the fence.

import type { Changes } from '../flow/change.ts';
import type { Control, Holder, IndexEntries, Run, RunId } from '../flow/run.ts';
import type { Alarm, Execution, InboxEvent, Reason, State } from '../proto/gen/weir/run/v1/run_pb.js';

export interface Fence {
  readonly epoch: number;
  readonly version: number;
}

/** What every write of a run carries. */
interface RunWrite {
  readonly run: RunId;
  /** Unique; stands in the row until the next write, so that the writer can find out whether it was applied. */
  readonly writeId: string;
  readonly changes: Changes;
}

/**
 * Conditional on absence of the run. `changes` has its control data and inputs, and the first decision when it is created
 * already claimed: with `holder` the fence begins at (1, 1), without at (0, 1).
 */
export interface CreateWrite extends RunWrite {
  readonly holder?: Holder;
  readonly entries: IndexEntries;
  /** The generation before this one: it must be terminal and not superseded, and becomes superseded in the same write. */
  readonly supersedes?: RunId;
}

/** Takes the run: fence to epoch + 1, version + 1; replaces holder and entries; raises `barrenClaims` by one. */
export interface ClaimWrite extends RunWrite {
  readonly expected: Fence;
  readonly holder: Holder;
  readonly entries: IndexEntries;
}

/** Fence to version + 1; sets `barrenClaims` to 0. */
export interface CommitWrite extends RunWrite {
  readonly expected: Fence;
  /** Present when the commit lets go of the run: no holder any more, and these are its entries. Absent: both stay. */
  readonly release?: IndexEntries;
}

export type WriteResult =
  | { readonly kind: 'done' }
  /** The fence moved on, or the run doesn't exist: nothing was changed. */
  | { readonly kind: 'fenced' }
  | { readonly kind: 'unknown'; readonly cause: string };

export type CreateResult =
  | { readonly kind: 'done' }
  /** The run is there already: nothing was changed. */
  | { readonly kind: 'exists' }
  /** The generation to supersede isn't terminal, is superseded or doesn't exist. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown'; readonly cause: string };

export type PostResult =
  /** `holder` is the run's present one: whom to nudge. */
  | { readonly kind: 'done'; readonly holder?: Holder }
  /** An event with this id was posted before, whether or not it was consumed since. */
  | { readonly kind: 'duplicate'; readonly holder?: Holder }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly cause: string };

/** A run as it stands, with all that is needed to claim it. */
export interface StoredRun {
  readonly run: Run;
  readonly fence: Fence;
  readonly writeId: string;
  readonly holder?: Holder;
  readonly entries: IndexEntries;
  /** Claims since the last accepted commit. */
  readonly barrenClaims: number;
  /** Not consumed yet, in order of arrival. */
  readonly inbox: readonly InboxEvent[];
}

/** The events that waited beside a run when it stood at `fence`, or later: none of them was consumed up to then. */
export interface InboxView {
  readonly fence: Fence;
  /** In order of arrival. */
  readonly events: readonly InboxEvent[];
}

/** The head of a run: enough to resolve a doubtful write and to ask a holder. */
export interface RunHead {
  readonly fence: Fence;
  readonly writeId: string;
  readonly holder?: Holder;
  readonly control: Control;
}

export type IndexKind = 'ready' | 'timer' | 'lease' | 'inbox';

/** One entry of the index. It finds work; the row is the truth. */
export interface IndexHit {
  readonly run: RunId;
  readonly fence: Fence;
  readonly control: Pick<Control, 'business' | 'level' | 'order' | 'inputBytes'>;
  readonly state: State;
  /** The run has a ready entry too. */
  readonly ready: boolean;
  readonly holder?: Holder;
  /** timer, lease: when it is due; inbox: arrival of the oldest event; ready: 0. In ms since 1970. */
  readonly dueMs: number;
}

export interface ScanRequest {
  readonly shard: number;
  readonly kind: IndexKind;
  /** timer, lease: only entries due by then. */
  readonly untilMs?: number;
  /** From the page before: entries after this position. */
  readonly after?: ScanPosition;
  /** 1 to 1,000. */
  readonly limit: number;
}

/** Opaque: an adapter's place in a scan. */
export type ScanPosition = string & { readonly brand: 'ScanPosition' };

export interface ScanPage {
  /** ready: by level, then order. timer, lease, inbox: by time. */
  readonly hits: readonly IndexHit[];
  /** Absent at the end. */
  readonly next?: ScanPosition;
}

export interface RunQuery {
  readonly business?: string;
  readonly flow?: string;
  /** Empty: any. */
  readonly states: readonly State[];
  /** Runs that the steps of this run started. */
  readonly parent?: RunId;
}

export interface ListPage {
  readonly runs: ReadonlyArray<Omit<StoredRun, 'inbox'>>;
  readonly next?: string;
}

export interface StateCount {
  readonly state: State;
  readonly reason: Reason;
  readonly runs: number;
}

export interface Store {
  /** Number of shards; fixed when the store is created. */
  readonly shards: number;

  create(write: CreateWrite): Promise<CreateResult>;
  claim(write: ClaimWrite): Promise<WriteResult>;
  commit(write: CommitWrite): Promise<WriteResult>;

  /** Puts an event beside its run; the run's fence isn't touched. */
  post(run: RunId, event: InboxEvent): Promise<PostResult>;

  load(run: RunId): Promise<StoredRun | undefined>;
  peek(run: RunId): Promise<RunHead | undefined>;
  /** Events of a run that are not consumed yet. */
  inbox(run: RunId): Promise<InboxView | undefined>;
  /** The newest generation of a run; undefined when there is none. `identity` is `business/flow/key`. */
  newest(identity: string): Promise<RunId | undefined>;

  scan(request: ScanRequest): Promise<ScanPage>;
  /**
   * Makes unheld OPEN and ENDING runs whose timer is due ready too, at their old place in their level; each only if its fence is
   * still the one that was seen. An OPEN run's timer is its deadline from then on. A timer that stays due (a deadline that has
   * passed, the time of an ending) says that the run must not wait for its turn. Answers how many.
   */
  promote(shard: number, due: readonly IndexHit[]): Promise<number>;

  /** Runs in an order that doesn't change while pages are read. `after` is `next` of the page before. `limit` is 1 to 1,000. */
  list(query: RunQuery, limit: number, after?: string): Promise<ListPage>;
  count(query: RunQuery): Promise<readonly StateCount[]>;
  /** In the order in which they were committed. */
  executions(run: RunId): Promise<readonly Execution[]>;
  /** Every execution of the runs that match, batch by batch: for inspection. */
  allExecutions(query: RunQuery): AsyncIterable<readonly Execution[]>;

  /** Raises an alarm that belongs to no commit. */
  raise(alarm: Changes['alarms'][number]): Promise<void>;
  /** The newest first. */
  alarms(limit: number, after?: string): Promise<{ readonly alarms: readonly Alarm[]; readonly next?: string }>;

  /** Resolves when all writes before it are answered. */
  close(): Promise<void>;
}
