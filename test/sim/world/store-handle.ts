// The store in the hands of one start of one process, behind a network that delays, loses, repeats and reorders.
//
// Owns nothing. A request that is on its way arrives also when its sender has died; its answer then goes nowhere.

import type { RunId } from '../../../flow/run.ts';
import type { InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { IndexHit, RunQuery, ScanRequest, Store } from '../../../store/port.ts';
import type { ProcessClock } from './clock.ts';
import { theStore } from './cuts.ts';
import type { WriteHappening } from './history.ts';
import type { SentWrite, SimulatedStore } from './store.ts';

interface Unknown {
  readonly kind: 'unknown';
  readonly cause: string;
}

/** Who reads and writes. */
export interface StoreUser {
  readonly process: string;
  readonly incarnation: string;
  readonly clock: ProcessClock;
}

/** Longest time until a copy that the network made of a request arrives, in ms: after others of the same run. */
const maxCopyMs = 3_000;

export class StoreHandle implements Store {
  readonly shards: number;
  readonly #store: SimulatedStore;
  readonly #user: StoreUser;

  constructor(store: SimulatedStore, user: StoreUser) {
    this.#store = store;
    this.#user = user;
    this.shards = store.inner.shards;
  }

  create(write: Parameters<Store['create']>[0]): ReturnType<Store['create']> {
    return this.#write('create', write, (store) => store.create(write));
  }

  claim(write: Parameters<Store['claim']>[0]): ReturnType<Store['claim']> {
    return this.#write('claim', write, (store) => store.claim(write));
  }

  commit(write: Parameters<Store['commit']>[0]): ReturnType<Store['commit']> {
    return this.#write('commit', write, (store) => store.commit(write));
  }

  post(run: RunId, event: InboxEvent): ReturnType<Store['post']> {
    return this.#doubtful(`post ${event.id}`, () => this.#store.post(this.#user.incarnation, run, event));
  }

  load(run: RunId): ReturnType<Store['load']> {
    return this.#read('load', (store) => store.load(run));
  }

  peek(run: RunId): ReturnType<Store['peek']> {
    this.#store.world.history.add({ kind: 'peek', process: this.#user.incarnation, run });
    return this.#read('peek', (store) => store.peek(run));
  }

  inbox(run: RunId): ReturnType<Store['inbox']> {
    return this.#read('inbox', (store) => store.inbox(run));
  }

  newest(identity: string): ReturnType<Store['newest']> {
    return this.#read('newest', (store) => store.newest(identity));
  }

  scan(request: ScanRequest): ReturnType<Store['scan']> {
    return this.#read('scan', (store) => store.scan(request));
  }

  list(query: RunQuery, limit: number, after?: string): ReturnType<Store['list']> {
    return this.#read('list', (store) => store.list(query, limit, after));
  }

  count(query: RunQuery): ReturnType<Store['count']> {
    return this.#read('count', (store) => store.count(query));
  }

  executions(run: RunId): ReturnType<Store['executions']> {
    return this.#read('executions', (store) => store.executions(run));
  }

  alarms(limit: number, after?: string): ReturnType<Store['alarms']> {
    return this.#read('alarms', (store) => store.alarms(limit, after));
  }

  allExecutions(query: RunQuery): ReturnType<Store['allExecutions']> {
    return this.#store.inner.allExecutions(query);
  }

  promote(shard: number, due: readonly IndexHit[]): ReturnType<Store['promote']> {
    return this.#ask('promote', () => this.#store.promote(this.#user.incarnation, shard, due));
  }

  raise(alarm: Parameters<Store['raise']>[0]): Promise<void> {
    return this.#ask('raise', () => this.#store.raise(alarm));
  }

  async close(): Promise<void> {}

  #write<Result extends { readonly kind: WriteHappening['result'] | 'unknown' }>(
    operation: WriteHappening['operation'],
    write: SentWrite,
    perform: (store: Store) => Promise<Result>,
  ): Promise<Result | Unknown> {
    const { incarnation } = this.#user;
    const { run, writeId } = write;
    this.#store.onSent(run, this.#user.process);
    const told = this.#doubtful(`${operation} ${writeId}`, () =>
      this.#store.write(incarnation, operation, write, perform),
    );
    return told.then((result) => {
      this.#store.world.history.add({ kind: 'told', process: incarnation, run, writeId, result: result.kind });
      return result;
    });
  }

  /** A request whose answer may get lost, and which may itself get lost, come twice, or when nobody expects it any more. */
  #doubtful<Result>(what: string, perform: () => Promise<Result>): Promise<Result | Unknown> {
    const { faults, scheduling } = this.#store.world;
    const { incarnation, clock } = this.#user;
    const where = `${incarnation} ${what}`;
    const timeoutMs = scheduling.between(20, 2_000);
    return new Promise((resolve, reject) => {
      const silence = (cause: string) => void clock.after(timeoutMs, () => resolve({ kind: 'unknown', cause }));
      const ignore = () => {};
      if (this.#isRequestLost() || faults.strikes('write not applied', where)) {
        return silence('time-out; the request was lost');
      }
      if (faults.strikes('duplicated request', where)) {
        this.#arrive(scheduling.between(1, maxCopyMs), perform, ignore, reject);
      }
      if (faults.strikes('late apply', where)) {
        const delayMs = timeoutMs + scheduling.between(0, scheduling.chance(0.5) ? 1_000 : 20_000);
        this.#arrive(delayMs, perform, ignore, reject);
        return silence('time-out; the request is on its way');
      }
      if (this.#isAnswerLost() || faults.strikes('lost reply', where)) {
        this.#arrive(this.#latencyMs(), perform, ignore, reject);
        return silence('time-out; the answer was lost');
      }
      this.#arrive(this.#latencyMs(), perform, (result) => this.#answer(() => resolve(result)), reject);
    });
  }

  /** What is read may be old. */
  #read<Result>(what: string, perform: (store: Store) => Promise<Result>): Promise<Result> {
    const isOld = this.#store.world.faults.strikes('stale read', `${this.#user.incarnation} ${what}`);
    return this.#ask(what, () => (isOld ? this.#store.readOld(perform) : perform(this.#store.inner)));
  }

  #ask<Result>(what: string, perform: () => Promise<Result>): Promise<Result> {
    const { faults, scheduling } = this.#store.world;
    const { incarnation, clock } = this.#user;
    return new Promise((resolve, reject) => {
      const isError = faults.strikes('read error', `${incarnation} ${what}`);
      const isRequestLost = this.#isRequestLost() || (isError && scheduling.chance(0.5));
      const isAnswerLost = isError || this.#isAnswerLost();
      if (isRequestLost || isAnswerLost) {
        // What it was to change changes all the same when only the answer got lost.
        if (!isRequestLost) this.#arrive(this.#latencyMs(), perform, () => {}, reject);
        const failure = new Error(`${what}: the store did not answer`);
        clock.after(scheduling.between(5, 2_000), () => reject(failure));
        return;
      }
      this.#arrive(this.#latencyMs(), perform, (result) => this.#answer(() => resolve(result)), reject);
    });
  }

  #isRequestLost(): boolean {
    return this.#store.world.cuts.isCut(this.#user.process, theStore) || this.#store.losesRequest();
  }

  #isAnswerLost(): boolean {
    return this.#store.isOut || this.#store.world.cuts.isCut(theStore, this.#user.process);
  }

  /** Performs a request when it reaches the store, whoever still lives then. */
  #arrive<Result>(
    delayMs: number,
    perform: () => Promise<Result>,
    then: (result: Result) => void,
    failed: (error: unknown) => void,
  ): void {
    this.#store.world.time.after(delayMs, () => {
      perform().then(then, failed);
    });
  }

  #answer(deliver: () => void): void {
    this.#user.clock.after(this.#latencyMs(), deliver);
  }

  /** One way to the store or back: seldom long. */
  #latencyMs(): number {
    const { scheduling } = this.#store.world;
    return scheduling.chance(0.02) ? scheduling.between(50, 1_500) : scheduling.between(1, 5);
  }
}
