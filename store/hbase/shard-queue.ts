// Group commit of one shard: the writes that wait while one call is under way go out together in the next one, as one conditional
// change of their rows. When a condition doesn't hold the region server changes nothing and doesn't say whose it was: then
// the group is sent again, run by run.
//
// Owns the shard's waiting writes, and its alarms.
//
// Invariants:
//   Q1  One group is under way at a time, and a key is at most once in it: so of two writes of a run the first is decided first.
//   Q2  A write is answered only when its own end is known, or known to be unknown. One that fails takes no other with it.
//   Q3  A write that has to look again does so alone, at most `maxTries` times.

import type { Clock } from '../../platform/clock/clock.ts';
import type { AlarmLedger, AlarmWrite, RaisedAlarm } from './alarm-ledger.ts';
import type { Condition, GroupResult, Mutation, Row, RowGroup } from './client/port.ts';

/** A write as the queue sends it. It is told exactly once how it ended. */
export interface QueuedWrite {
  /** What no other write of the group may touch: the run's identity, since a generation may end the one before. */
  readonly key: string;
  /** Payload. */
  readonly bytes: number;
  /** Rows that it must see before this attempt; empty when it knows all it needs. */
  reads(): readonly Buffer[];
  /** What to change now; undefined when it needs nothing more: it has answered. */
  attempt(rows: readonly (Row | undefined)[]): Attempt | undefined;
  done(): void;
  /** Nothing was changed. Answers whether it wants another attempt; else it has answered. */
  refused(): boolean;
  /** Nobody knows whether it was applied, or will be. */
  failed(cause: string): void;
  /** A bug of ours. */
  broken(bug: unknown): void;
}

export interface Attempt {
  readonly conditions: readonly Condition[];
  readonly mutations: readonly Mutation[];
  readonly alarms: readonly RaisedAlarm[];
}

export interface ShardQueueOptions {
  readonly clock: Pick<Clock, 'soon'>;
  /** Writes in one call. 50: the price of a condition that doesn't hold grows with it, the gain hardly. */
  readonly maxGroupWrites: number;
  /** Payload bytes of one call, a single larger write excepted. */
  readonly maxGroupBytes: number;
  /** Attempts of one write: each of them lost against another process, or met an old read. */
  readonly maxTries: number;
  /** Hears of calls that failed. */
  readonly onFailure: (cause: string) => void;
  /** What is asked for and not answered yet, of all shards. */
  readonly load: QueueLoad;
}

/** Bounds what all shards together hold. */
export interface QueueLoad {
  writes: number;
  bytes: number;
  /** More are refused. */
  readonly maxWrites: number;
  /** More are refused, unless nothing waits. */
  readonly maxBytes: number;
}

/** How rows are read and changed. */
export interface RowStore {
  /** The columns that decide about writes, of each row. Throws HBaseFailure. */
  read(rows: readonly Buffer[]): Promise<readonly (Row | undefined)[]>;
  change(groups: readonly RowGroup[]): Promise<readonly GroupResult[]>;
}

interface Task {
  readonly write: QueuedWrite;
  tries: number;
  ended: boolean;
}

interface Prepared {
  readonly task: Task;
  readonly attempt: Attempt;
}

export class ShardQueue {
  readonly #rows: RowStore;
  readonly #ledger: AlarmLedger;
  readonly #options: ShardQueueOptions;
  /** Those that look again, before all others. */
  readonly #again: Task[] = [];
  #waiting: Task[] = [];
  #running = false;
  #idle: Array<() => void> = [];

  constructor(rows: RowStore, ledger: AlarmLedger, options: ShardQueueOptions) {
    this.#rows = rows;
    this.#ledger = ledger;
    this.#options = options;
  }

  add(write: QueuedWrite): void {
    const { load, clock } = this.#options;
    if (load.writes >= load.maxWrites || (load.bytes > 0 && load.bytes + write.bytes > load.maxBytes)) {
      write.failed(`too many writes are waiting: ${load.writes}, ${load.bytes} bytes`);
      return;
    }
    load.writes++;
    load.bytes += write.bytes;
    this.#waiting.push({ write, tries: 0, ended: false });
    if (this.#running) return;
    this.#running = true;
    clock.soon(() => void this.#run());
  }

  /** Whether a write that waits may grow by so much. */
  mayGrow(bytes: number): boolean {
    const { load } = this.#options;
    return load.bytes + bytes <= load.maxBytes;
  }

  /** A write that waits has grown. */
  grew(bytes: number): void {
    this.#options.load.bytes += bytes;
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    if (this.#running) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  async #run(): Promise<void> {
    while (this.#again.length > 0 || this.#waiting.length > 0) {
      const group = this.#nextGroup();
      try {
        await this.#send(group);
      } catch (bug) {
        for (const task of group) this.#end(task, () => task.write.broken(bug));
      }
    }
    this.#running = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #nextGroup(): Task[] {
    const again = this.#again.shift();
    if (again) return [again];
    const { maxGroupWrites, maxGroupBytes } = this.#options;
    const group: Task[] = [];
    const left: Task[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    let index = 0;
    for (; index < this.#waiting.length && group.length < maxGroupWrites; index++) {
      const task = this.#waiting[index];
      if (!task) continue;
      if (group.length > 0 && bytes + task.write.bytes > maxGroupBytes) break;
      if (keys.has(task.write.key)) {
        left.push(task);
        continue;
      }
      keys.add(task.write.key);
      group.push(task);
      bytes += task.write.bytes;
    }
    this.#waiting = left.length === 0 ? this.#waiting.slice(index) : [...left, ...this.#waiting.slice(index)];
    return group;
  }

  async #send(group: readonly Task[]): Promise<void> {
    const prepared = await this.#prepare(group);
    if (prepared.length === 0) return;
    const result = await this.#change(prepared);
    if (prepared.length === 1 || (result.kind !== 'conditionFailed' && result.kind !== 'refused')) {
      for (const { task } of prepared) this.#settle(task, result);
      return;
    }
    // Those that raise alarms go one after the other: which number an alarm has depends on whether the one before it counted.
    const quiet = prepared.filter(({ attempt }) => attempt.alarms.length === 0);
    if (quiet.length > 0) {
      const results = await this.#call(quiet.map(({ attempt }) => changeOf([attempt], [])));
      for (const [index, { task }] of quiet.entries()) {
        const own = results[index];
        if (own) this.#settle(task, own);
      }
    }
    for (const one of prepared) {
      if (one.attempt.alarms.length > 0) this.#settle(one.task, await this.#change([one]));
    }
  }

  /** Reads what the writes need, all at once, and asks each for its attempt. */
  async #prepare(group: readonly Task[]): Promise<Prepared[]> {
    const wanted = group.map(({ write }) => write.reads());
    const requests = wanted.flat();
    let rows: readonly (Row | undefined)[] = [];
    if (requests.length > 0) {
      try {
        rows = await this.#rows.read(requests);
      } catch (error) {
        const cause = error instanceof Error ? error.message : String(error);
        this.#options.onFailure(cause);
        for (const task of group) this.#end(task, () => task.write.failed(cause));
        return [];
      }
    }
    const prepared: Prepared[] = [];
    let begin = 0;
    for (const [index, task] of group.entries()) {
      const end = begin + (wanted[index]?.length ?? 0);
      const own = rows.slice(begin, end);
      begin = end;
      try {
        const attempt = task.write.attempt(own);
        if (attempt) prepared.push({ task, attempt });
        else this.#end(task, () => {});
      } catch (bug) {
        this.#end(task, () => task.write.broken(bug));
      }
    }
    return prepared;
  }

  async #change(prepared: readonly Prepared[]): Promise<GroupResult> {
    const alarms = prepared.flatMap(({ attempt }) => attempt.alarms);
    const counted: AlarmWrite | undefined = alarms.length > 0 ? this.#ledger.plan(alarms) : undefined;
    const attempts = prepared.map(({ attempt }) => attempt);
    const [result] = await this.#call([changeOf(attempts, counted?.mutations ?? [])]);
    if (!result) throw new Error('a change was not answered');
    counted?.settle(result.kind === 'done' ? true : result.kind === 'unknown' ? undefined : false);
    return result;
  }

  async #call(groups: readonly RowGroup[]): Promise<readonly GroupResult[]> {
    const results = await this.#rows.change(groups);
    for (const result of results) if ('cause' in result) this.#options.onFailure(result.cause);
    return results;
  }

  #settle(task: Task, result: GroupResult): void {
    const { write } = task;
    if (result.kind === 'done') {
      this.#end(task, () => write.done());
    } else if (result.kind !== 'conditionFailed') {
      this.#end(task, () => write.failed(result.cause));
    } else if (!write.refused()) {
      this.#end(task, () => {});
    } else if (++task.tries >= this.#options.maxTries) {
      this.#end(task, () => write.failed(`others changed the same rows ${task.tries} times meanwhile`));
    } else {
      this.#again.push(task);
    }
  }

  #end(task: Task, tell: () => void): void {
    if (task.ended) return;
    task.ended = true;
    const { load } = this.#options;
    load.writes--;
    load.bytes -= task.write.bytes;
    tell();
  }
}

function changeOf(attempts: readonly Attempt[], alarms: readonly Mutation[]): RowGroup {
  const mutations = [...attempts.flatMap((attempt) => attempt.mutations), ...alarms];
  const [first] = mutations;
  if (!first) throw new Error('a change of no rows');
  return { row: first.row, conditions: attempts.flatMap((attempt) => attempt.conditions), mutations };
}
