// The store as processes see it: one memory store behind a network that delays, loses and reorders.
//
// Owns the record of what reached the store. A request that is on its way arrives also when its sender has died; its answer
// then goes nowhere.
//
// Invariants:
//   W1  The store is read and written in an event of its own, so that no two operations interleave.
//   W2  Every write that reached the store is in the history once, with the fences read before and after it.

import type { Changes } from '../../../flow/change.ts';
import type { RunId, Status } from '../../../flow/run.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { type InboxEvent, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import type { Fence, IndexHit, PostResult, RunQuery, ScanRequest, Store } from '../../../store/port.ts';
import type { ProcessClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { History, WriteHappening } from './history.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

interface Unknown {
  readonly kind: 'unknown';
  readonly cause: string;
}

export class SimulatedStore {
  readonly inner: Store;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  readonly history: History;
  /** Runs whose last claim, or creation as claimed, was not followed by a commit that lets go. */
  readonly #held = new Set<RunId>();
  readonly #statuses = new Map<RunId, Status>();
  /** Runs by the events that none of their writes has consumed. */
  readonly #unconsumed = new Map<string, RunId>();

  /** `mutate` plants a fault in the store itself. */
  constructor(
    world: { time: VirtualTime; faults: Faults; history: History; scheduling: Random },
    shards: number,
    mutate: (store: Store) => Store = (store) => store,
  ) {
    this.inner = mutate(new MemoryStore(shards));
    this.time = world.time;
    this.random = world.scheduling;
    this.faults = world.faults;
    this.history = world.history;
  }

  /** The store in the hands of one process. */
  handle(process: string, clock: ProcessClock): Store {
    return new StoreHandle(this, process, clock);
  }

  /** One way to the store or back, in ms: seldom long, so that what is read is old at times. */
  latencyMs(): number {
    return this.random.chance(0.02) ? this.random.between(50, 1_500) : this.random.between(1, 5);
  }

  /** What a look at a run shows. */
  status(run: RunId): Status | undefined {
    return this.#statuses.get(run);
  }

  /** All runs have ended or are parked, nobody holds one, and no event waits except at those parked. */
  get isAtRest(): boolean {
    if (this.#held.size > 0) return false;
    for (const { state } of this.#statuses.values()) if (state !== State.PARKED && !isTerminal(state)) return false;
    for (const run of this.#unconsumed.values()) if (this.status(run)?.state !== State.PARKED) return false;
    return true;
  }

  /** Carries out a write and records what came of it. */
  async apply(
    process: string,
    operation: WriteHappening['operation'],
    write: Pick<WriteHappening, 'run' | 'writeId' | 'changes'> & { expected?: Fence; release?: unknown },
    perform: () => Promise<{ readonly kind: WriteHappening['result'] | 'unknown' }>,
  ): Promise<void> {
    const { run, writeId, changes, expected } = write;
    const before = (await this.inner.peek(run))?.fence;
    const { kind } = await perform();
    const after = (await this.inner.peek(run))?.fence;
    if (kind === 'unknown') throw new Error('the memory store always knows');
    if (kind === 'done') {
      this.#noteChanges(run, changes);
      if (operation === 'claim' || (operation === 'create' && after?.epoch === 1)) this.#held.add(run);
      if (write.release !== undefined) this.#held.delete(run);
    }
    this.history.add({
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
      release: write.release !== undefined,
    });
  }

  async post(process: string, run: RunId, event: InboxEvent): Promise<PostResult> {
    const result = await this.inner.post(run, event);
    if (result.kind === 'done') this.#unconsumed.set(event.id, run);
    if (result.kind !== 'unknown') this.history.add({ kind: 'post', run, event, process, result: result.kind });
    return result;
  }

  #noteChanges(run: RunId, { control, consumed }: Changes): void {
    if (control) this.#statuses.set(run, control.status);
    for (const id of consumed) this.#unconsumed.delete(id);
  }
}

class StoreHandle implements Store {
  readonly shards: number;
  readonly #store: SimulatedStore;
  readonly #process: string;
  readonly #clock: ProcessClock;

  constructor(store: SimulatedStore, process: string, clock: ProcessClock) {
    this.#store = store;
    this.#process = process;
    this.#clock = clock;
    this.shards = store.inner.shards;
  }

  create(write: Parameters<Store['create']>[0]): ReturnType<Store['create']> {
    return this.#recorded('create', write, () => this.#store.inner.create(write));
  }

  claim(write: Parameters<Store['claim']>[0]): ReturnType<Store['claim']> {
    return this.#recorded('claim', write, () => this.#store.inner.claim(write));
  }

  commit(write: Parameters<Store['commit']>[0]): ReturnType<Store['commit']> {
    return this.#recorded('commit', write, () => this.#store.inner.commit(write));
  }

  post(run: RunId, event: InboxEvent): ReturnType<Store['post']> {
    return this.#doubtful(`post ${event.id}`, () => this.#store.post(this.#process, run, event));
  }

  load(run: RunId): ReturnType<Store['load']> {
    return this.#read('load', () => this.#store.inner.load(run));
  }

  peek(run: RunId): ReturnType<Store['peek']> {
    return this.#read('peek', () => this.#store.inner.peek(run));
  }

  inbox(run: RunId): ReturnType<Store['inbox']> {
    return this.#read('inbox', () => this.#store.inner.inbox(run));
  }

  newest(identity: string): ReturnType<Store['newest']> {
    return this.#read('newest', () => this.#store.inner.newest(identity));
  }

  scan(request: ScanRequest): ReturnType<Store['scan']> {
    return this.#read('scan', () => this.#store.inner.scan(request));
  }

  promote(shard: number, due: readonly IndexHit[]): ReturnType<Store['promote']> {
    return this.#read('promote', () => this.#store.inner.promote(shard, due));
  }

  list(query: RunQuery, limit: number, after?: string): ReturnType<Store['list']> {
    return this.#read('list', () => this.#store.inner.list(query, limit, after));
  }

  count(query: RunQuery): ReturnType<Store['count']> {
    return this.#read('count', () => this.#store.inner.count(query));
  }

  executions(run: RunId): ReturnType<Store['executions']> {
    return this.#read('executions', () => this.#store.inner.executions(run));
  }

  allExecutions(query: RunQuery): ReturnType<Store['allExecutions']> {
    return this.#store.inner.allExecutions(query);
  }

  raise(alarm: Parameters<Store['raise']>[0]): Promise<void> {
    return this.#read('raise', () => this.#store.inner.raise(alarm));
  }

  alarms(limit: number, after?: string): ReturnType<Store['alarms']> {
    return this.#read('alarms', () => this.#store.inner.alarms(limit, after));
  }

  async close(): Promise<void> {}

  #recorded<Result extends { readonly kind: WriteHappening['result'] | 'unknown' }>(
    operation: WriteHappening['operation'],
    write: Parameters<SimulatedStore['apply']>[2],
    perform: () => Promise<Result>,
  ): Promise<Result | Unknown> {
    return this.#doubtful(`${operation} ${write.writeId}`, async () => {
      let result: Result | undefined;
      await this.#store.apply(this.#process, operation, write, async () => (result = await perform()));
      if (!result) throw new Error('a write without a result');
      return result;
    });
  }

  /** A request whose answer may get lost, and which may itself get lost or arrive when nobody expects it any more. */
  #doubtful<Result>(what: string, perform: () => Promise<Result>): Promise<Result | Unknown> {
    const { faults, random } = this.#store;
    const where = `${this.#process} ${what}`;
    const timeoutMs = random.between(20, 2_000);
    return new Promise((resolve, reject) => {
      const unknown = (cause: string) => {
        this.#clock.after(timeoutMs, () => resolve({ kind: 'unknown', cause }));
      };
      if (faults.strikes('write not applied', where)) return unknown('time-out; the request was lost');
      if (faults.strikes('late apply', where)) {
        const delayMs = timeoutMs + random.between(0, random.chance(0.5) ? 1_000 : 20_000);
        this.#arrive(delayMs, perform, () => {}, reject);
        return unknown('time-out; the request is on its way');
      }
      if (faults.strikes('lost reply', where)) {
        this.#arrive(this.#store.latencyMs(), perform, () => {}, reject);
        return unknown('time-out; the answer was lost');
      }
      this.#arrive(this.#store.latencyMs(), perform, (result) => this.#answer(() => resolve(result)), reject);
    });
  }

  #read<Result>(what: string, perform: () => Promise<Result>): Promise<Result> {
    const { faults, random } = this.#store;
    const where = `${this.#process} ${what}`;
    return new Promise((resolve, reject) => {
      if (faults.strikes('read error', where)) {
        // What it was to change may have changed all the same.
        if (random.chance(0.5)) this.#arrive(this.#store.latencyMs(), perform, () => {}, reject);
        this.#clock.after(random.between(5, 2_000), () => reject(new Error(`${what}: the store did not answer`)));
        return;
      }
      this.#arrive(this.#store.latencyMs(), perform, (result) => this.#answer(() => resolve(result)), reject);
    });
  }

  /** Performs a request when it reaches the store, whoever still lives then. */
  #arrive<Result>(
    delayMs: number,
    perform: () => Promise<Result>,
    then: (result: Result) => void,
    failed: (error: unknown) => void,
  ): void {
    this.#store.time.after(delayMs, () => {
      perform().then(then, failed);
    });
  }

  #answer(deliver: () => void): void {
    this.#clock.after(this.#store.latencyMs(), deliver);
  }
}
