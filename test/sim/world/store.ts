// The one store of a world, and a copy of it that is behind. Processes reach it through store-handle.ts.
//
// Owns the record of what reached the store, and what is known of its runs without asking.
//
// Invariants:
//   W1  The store is read and written in an event of its own, so that no two operations interleave.
//   W2  Every write that reached the store is in the history once, with the fences read before and after it.

import type { Changes } from '../../../flow/change.ts';
import type { Control, IndexEntries, RunId, Status } from '../../../flow/run.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { type InboxEvent, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import type { IndexHit, PostResult, Store } from '../../../store/port.ts';
import type { Cuts } from './cuts.ts';
import type { Faults } from './faults.ts';
import type { History, WriteHappening } from './history.ts';
import type { Random } from './random.ts';
import { Replica } from './replica.ts';
import type { VirtualTime } from './time.ts';

export interface StoreWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly history: History;
  readonly scheduling: Random;
  readonly cuts: Cuts;
}

/** Any of the three writes of a run. */
export type SentWrite = Pick<
  WriteHappening,
  'run' | 'writeId' | 'changes' | 'expected' | 'holder' | 'entries' | 'supersedes'
> & {
  readonly release?: IndexEntries;
};

/** Shares of requests that an outage loses, one of them for each outage. */
const lostShares = [0.5, 0.9, 1];

export class SimulatedStore {
  readonly inner: Store;
  readonly world: StoreWorld;
  /** Called when a process sends a write of a run. */
  onSent: (run: RunId, process: string) => void = () => {};
  /** Called when a process took a run that is to go on. */
  onTaken: (run: RunId, process: string) => void = () => {};
  /** Called when an accepted write has changed the control data of a run. */
  onControl: (run: RunId, control: Control) => void = () => {};
  /** Absent where nothing that is read is old. */
  readonly #replica: Replica | undefined;
  /** Runs whose last claim, or creation as claimed, was not followed by a commit that lets go. */
  readonly #held = new Set<RunId>();
  readonly #controls = new Map<RunId, Control>();
  /** Runs by the events that none of their writes has consumed. */
  readonly #unconsumed = new Map<string, { readonly run: RunId; readonly kind: InboxEvent['kind'] }>();
  #outUntilMs = 0;
  /** Of the requests that come while it is out, so many go nowhere; only the answers to the others do. */
  #lostShare = 0;

  constructor(world: StoreWorld, shards: number) {
    const { time, scheduling, faults } = world;
    this.inner = new MemoryStore(shards);
    this.world = world;
    if (faults.has('stale read')) this.#replica = new Replica(time, scheduling, new MemoryStore(shards));
  }

  /** It answers nobody. */
  get isOut(): boolean {
    return this.world.time.elapsedMs < this.#outUntilMs;
  }

  goOut(durationMs: number): void {
    this.#outUntilMs = this.world.time.elapsedMs + durationMs;
    this.#lostShare = this.world.scheduling.pick(lostShares);
  }

  /** Whether a request that comes now goes nowhere. */
  losesRequest(): boolean {
    return this.isOut && this.world.scheduling.chance(this.#lostShare);
  }

  heal(): void {
    this.#outUntilMs = 0;
  }

  /** What a look at a run shows. */
  control(run: RunId): Control | undefined {
    return this.#controls.get(run);
  }

  status(run: RunId): Status | undefined {
    return this.#controls.get(run)?.status;
  }

  /** All runs have ended or are parked, nobody holds one, and no event waits except those that leave a parked run as it is. */
  get isAtRest(): boolean {
    if (this.#held.size > 0) return false;
    for (const { status } of this.#controls.values())
      if (status.state !== State.PARKED && !isTerminal(status.state)) return false;
    for (const { run, kind } of this.#unconsumed.values()) {
      if (this.status(run)?.state !== State.PARKED || kind.case === 'release' || kind.case === 'cancel') return false;
    }
    return true;
  }

  /** What a read shows that reaches a server which is behind. */
  readOld<Result>(perform: (store: Store) => Promise<Result>): Promise<Result> {
    return this.#replica?.read(perform) ?? perform(this.inner);
  }

  /** Carries out a write and records what came of it. */
  async write<Result extends { readonly kind: WriteHappening['result'] | 'unknown' }>(
    process: string,
    operation: WriteHappening['operation'],
    write: SentWrite,
    perform: (store: Store) => Promise<Result>,
  ): Promise<Result> {
    const { run, writeId, changes, expected, holder, supersedes } = write;
    const entries = write.entries ?? write.release;
    const before = (await this.inner.peek(run))?.fence;
    const result = await this.#change(perform);
    const { kind } = result;
    const after = (await this.inner.peek(run))?.fence;
    if (kind === 'unknown') throw new Error('the memory store always knows');
    if (kind === 'done') {
      this.#noteChanges(run, changes);
      if (operation === 'claim' || (operation === 'create' && after?.epoch === 1)) this.#held.add(run);
      if (write.release !== undefined) this.#held.delete(run);
      const state = this.status(run)?.state;
      if (holder && (state === State.OPEN || state === State.ENDING)) this.onTaken(run, process);
      if (changes.control) this.onControl(run, changes.control);
    }
    this.world.history.add({
      kind: 'write',
      operation,
      run,
      writeId,
      process,
      result: kind,
      ...(before && { before }),
      ...(expected && { expected }),
      ...(after && { after }),
      changes,
      ...(holder && { holder }),
      release: write.release !== undefined,
      ...(entries && { entries }),
      ...(supersedes !== undefined && { supersedes }),
    });
    return result;
  }

  async promote(process: string, shard: number, due: readonly IndexHit[]): Promise<number> {
    const before = await Promise.all(due.map(({ run }) => this.inner.load(run)));
    const promoted = await this.#change((store) => store.promote(shard, due));
    if (promoted === 0) return promoted;
    const after = await Promise.all(due.map(({ run }) => this.inner.load(run)));
    for (const [index, { run, fence: seen }] of due.entries()) {
      const [was, is] = [before[index], after[index]];
      if (!was || !is || was.entries.ready === is.entries.ready) continue;
      const entries = { before: was.entries, after: is.entries };
      this.world.history.add({ kind: 'promotion', run, process, seen, actual: was.fence, ...entries });
    }
    return promoted;
  }

  async post(process: string, run: RunId, event: InboxEvent): Promise<PostResult> {
    const result = await this.#change((store) => store.post(run, event));
    if (result.kind === 'done') this.#unconsumed.set(event.id, { run, kind: event.kind });
    if (result.kind !== 'unknown') this.world.history.add({ kind: 'post', run, event, process, result: result.kind });
    return result;
  }

  raise(alarm: Parameters<Store['raise']>[0]): Promise<void> {
    return this.#change((store) => store.raise(alarm));
  }

  async #change<Result>(perform: (store: Store) => Promise<Result>): Promise<Result> {
    const result = await perform(this.inner);
    this.#replica?.note(perform);
    return result;
  }

  #noteChanges(run: RunId, { control, consumed }: Changes): void {
    if (control) this.#controls.set(run, control);
    for (const id of consumed) this.#unconsumed.delete(id);
  }
}
