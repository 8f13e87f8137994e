// Group commit: all writes that are asked for in one turn of the event loop travel in one transaction, so that they share
// its fsync. After a group of several the next one waits for three times as long as that one took: under load groups grow, and
// committing takes about a quarter of the time. Where writes come one by one none waits.
//
// Ownership: this object is the only one that begins and ends transactions on its connection.
//
// Invariants:
//   G1  A write is answered only after the COMMIT of its transaction has succeeded, or after nothing of it can be applied
//       any more.
//   G2  Outside `#transact` no transaction is open: whoever reads in between sees committed data only.
//   G3  A write that fails takes no other with it: its group is rolled back and each write of it gets its own transaction.
//   G4  After a fatal error (severity) nothing is begun any more and every write fails: `stopped` says why.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock } from '../../platform/clock/clock.ts';
import { causeOf, severity } from './sqlite-error.ts';

/** Why writes fail: once, or from now on. Called with each failed transaction, for the log. */
export type StoreFailureListener = (failure: { readonly kind: 'failed' | 'stopped'; readonly cause: string }) => void;

export interface GroupCommitOptions {
  /** Gathers the writes of one turn, and of the pause after a group. */
  readonly clock: Pick<Clock, 'soon' | 'after' | 'monotonicMs'>;
  /** Milliseconds that a group waits for the ones before it, at most: what a slow disk may add to a write. */
  readonly maxPauseMs: number;
  /** Writes in one transaction. Bounds how long the event loop stands still: 512 take about 5 ms. */
  readonly maxGroupWrites: number;
  /** Payload bytes in one transaction, a single larger write excepted. */
  readonly maxGroupBytes: number;
  /** Writes that wait for a transaction; more are refused. */
  readonly maxWaitingWrites: number;
  /** Payload bytes that wait for a transaction; more are refused. */
  readonly maxWaitingBytes: number;
  /** Pages in the write-ahead log that bring about a checkpoint. */
  readonly checkpointPages: number;
  readonly onFailure: StoreFailureListener;
}

interface Task {
  readonly bytes: number;
  /** Writes inside the transaction and keeps its result. */
  apply(): void;
  answer(): void;
  /** Nothing of it is in the database, or nobody knows. */
  fail(cause: string): void;
  reject(bug: unknown): void;
}

/** Rest after a group, in times of what it took: where writes keep coming, a few large groups cost less CPU than many small ones. */
const restFactor = 3;

export class GroupCommit {
  /** Transactions that have been committed, and writes in them. */
  transactions = 0;
  writes = 0;
  #waiting: Task[] = [];
  #waitingBytes = 0;
  #scheduled = false;
  /** Before it no group begins, by the monotonic clock. */
  #restUntilMs = 0;
  #stopped: string | undefined;
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #logSize: StatementSync;
  readonly #onRollback: () => void;
  readonly #options: GroupCommitOptions;

  /** `onRollback`: what was learnt inside the transaction doesn't hold. */
  constructor(database: DatabaseSync, onRollback: () => void, options: GroupCommitOptions) {
    this.#database = database;
    this.#onRollback = onRollback;
    this.#options = options;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    // Asks for the size of the log; moves nothing.
    this.#logSize = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  }

  /** Why nothing is written any more; undefined while all is well. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  /**
   * Runs `apply` in the next transaction. The answer is its result, or that of `failure` with the cause when the write is
   * not known to be stored. Rejects for bugs only.
   */
  ask<R>(bytes: number, apply: () => R, failure: (cause: string) => R): Promise<R> {
    if (this.#stopped !== undefined) return Promise.resolve(failure(this.#stopped));
    const { maxWaitingWrites, maxWaitingBytes } = this.#options;
    if (
      this.#waiting.length >= maxWaitingWrites ||
      (this.#waitingBytes > 0 && this.#waitingBytes + bytes > maxWaitingBytes)
    ) {
      return Promise.resolve(
        failure(`too many writes are waiting: ${this.#waiting.length}, ${this.#waitingBytes} bytes`),
      );
    }
    this.#waitingBytes += bytes;
    this.#schedule();
    return new Promise((resolve, reject) => {
      let result: R;
      this.#waiting.push({
        bytes,
        apply() {
          result = apply();
        },
        answer: () => resolve(result),
        fail: (cause) => resolve(failure(cause)),
        reject,
      });
    });
  }

  /** Answers all that waits, now. */
  drain(): void {
    while (this.#waiting.length > 0) this.#transact(this.#nextGroup());
  }

  #turn(): void {
    this.#scheduled = false;
    if (this.#waiting.length === 0) return;
    const { clock, maxPauseMs } = this.#options;
    const beganMs = clock.monotonicMs();
    const group = this.#nextGroup();
    this.#transact(group);
    const endedMs = clock.monotonicMs();
    // A write that came alone is no sign of load, and the one that follows it should not wait.
    if (group.length > 1) this.#restUntilMs = endedMs + Math.min(maxPauseMs, restFactor * (endedMs - beganMs));
    // What was too much for one group goes after what the event loop has meanwhile to do.
    if (this.#waiting.length > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const { clock } = this.#options;
    const restMs = this.#restUntilMs - clock.monotonicMs();
    if (restMs > 0) clock.after(restMs, () => this.#turn());
    else clock.soon(() => this.#turn());
  }

  #nextGroup(): Task[] {
    const { maxGroupWrites, maxGroupBytes } = this.#options;
    let count = 0;
    let bytes = 0;
    for (const task of this.#waiting) {
      if (count === maxGroupWrites || (count > 0 && bytes + task.bytes > maxGroupBytes)) break;
      count++;
      bytes += task.bytes;
    }
    this.#waitingBytes -= bytes;
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const group = this.#waiting;
    this.#waiting = [];
    return group;
  }

  #transact(group: readonly Task[]): void {
    if (this.#stopped !== undefined) {
      for (const task of group) task.fail(this.#stopped);
      return;
    }
    try {
      this.#begin.run();
    } catch (error) {
      this.#fail(group, error);
      return;
    }
    try {
      for (const task of group) task.apply();
    } catch (error) {
      this.#rollback();
      if (group.length === 1 || severity(error) === 'fatal') this.#fail(group, error);
      else for (const task of group) this.#transact([task]);
      return;
    }
    try {
      this.#commit.run();
    } catch (error) {
      this.#rollback();
      this.#fail(group, error);
      return;
    }
    this.transactions++;
    this.writes += group.length;
    for (const task of group) task.answer();
    this.#checkpoint();
  }

  #fail(group: readonly Task[], error: unknown): void {
    const gravity = severity(error);
    if (gravity === 'bug') {
      for (const task of group) task.reject(error);
      return;
    }
    const cause = causeOf(error);
    if (gravity === 'fatal') this.#stop(cause);
    else this.#options.onFailure({ kind: 'failed', cause });
    for (const task of group) task.fail(this.#stopped ?? cause);
  }

  #stop(cause: string): void {
    this.#stopped = `the store has stopped: ${cause}`;
    this.#options.onFailure({ kind: 'stopped', cause });
  }

  #rollback(): void {
    this.#onRollback();
    try {
      // SQLite ends the transaction itself after some errors.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch (error) {
      this.#stop(causeOf(error));
    }
  }

  /**
   * Moves the log into the database when it has grown. Done here, since the checkpoint that SQLite does by itself keeps quiet
   * about a failed fsync.
   */
  #checkpoint(): void {
    try {
      const size = this.#logSize.get();
      if (Number(size?.['log']) < this.#options.checkpointPages) return;
      this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (error) {
      const gravity = severity(error);
      if (gravity === 'fatal') this.#stop(causeOf(error));
      else this.#options.onFailure({ kind: 'failed', cause: `checkpoint: ${causeOf(error)}` });
    }
  }
}
