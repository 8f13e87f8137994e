// Run locks on one Redis.
//
// Ownership: one object for the whole process. Owns the calls that wait for the end of the turn, and the deadlines of our locks.
//
// Invariants:
//   R1  What is asked in one turn goes out together, releases first: who acquires a lock that was given back in the same turn gets it.
//       (Nobody gives back in a turn what he asked for in it: he has no answer yet.)
//   R2  A lock counts as ours until its deadline (deadlines.ts), whatever Redis says later: a renewal that isn't confirmed by
//       then has come too late.
//   R3  Without an answer nothing waits and nothing throws: acquired is `unavailable`, renewed is what isn't over yet, and what
//       wasn't released runs out.
//   R4  At most `maxWaiting` acquisitions wait for an answer; what else goes out is bounded by the locks that the caller has.

import type { LockResult, RunLocks } from '../run-locks.ts';
import { NoAnswerError, RedisConnection, type RedisPorts } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import type { LockScript } from './scripts.ts';
import { type RedisServer, type RedisSettings, redisSettings } from './settings.ts';

/** What the locks need of a connection. */
export interface ScriptRunner {
  readonly isReady: boolean;
  /** Rejects with NoAnswerError. */
  run(script: LockScript, keys: readonly string[], values: ReadonlyArray<string | number>): Promise<unknown>;
  close(): void;
}

interface Acquisition {
  readonly run: string;
  readonly owner: string;
  readonly ttlMs: number;
  readonly done: (result: LockResult) => void;
}

interface Release {
  readonly runs: readonly string[];
  readonly owner: string;
  readonly done: () => void;
}

/** Resolves when it is known whether Redis is there; it need not be. Throws RedisRefusedError, or RangeError of a setting. */
export async function openRedisRunLocks(
  server: RedisServer,
  settings: Partial<RedisSettings>,
  ports: RedisPorts,
): Promise<RedisRunLocks> {
  const all = redisSettings(settings);
  const connection = new RedisConnection(server, all, ports);
  try {
    await connection.open();
  } catch (error) {
    connection.close();
    throw error;
  }
  return new RedisRunLocks(connection, all, ports);
}

export class RedisRunLocks implements RunLocks {
  readonly #redis: ScriptRunner;
  readonly #settings: RedisSettings;
  readonly #ports: Pick<RedisPorts, 'clock' | 'logger'>;
  readonly #deadlines = new Deadlines<true>();
  #acquisitions: Acquisition[] = [];
  #releases: Release[] = [];
  #waiting = 0;
  #scheduled = false;
  /** What was told of commands that Redis refuses while it answers: once, until one is done. */
  #told: string | undefined;

  constructor(redis: ScriptRunner, settings: RedisSettings, ports: Pick<RedisPorts, 'clock' | 'logger'>) {
    this.#redis = redis;
    this.#settings = settings;
    this.#ports = ports;
  }

  /** An owner that has the lock already gets it again, with the new time. */
  async acquire(run: string, owner: string, ttlMs: number): Promise<LockResult> {
    if (!this.#redis.isReady || this.#waiting >= this.#settings.maxWaiting) return { kind: 'unavailable' };
    this.#waiting++;
    const result = await new Promise<LockResult>((done) => {
      this.#acquisitions.push({ run, owner, ttlMs, done });
      this.#flushSoon();
    });
    this.#waiting--;
    return result;
  }

  /** Without an answer, only those are lost whose time is over. */
  async renew(runs: readonly string[], owner: string, ttlMs: number): Promise<readonly string[]> {
    const sentMs = this.#ports.clock.monotonicMs();
    const ours = runs.filter((run) => this.#deadlines.get(run, owner, sentMs));
    const refused = new Set<string>();
    const renewed = batches(ours, this.#settings.maxBatch).map(async (batch) => {
      const places = await this.#run('renew', batch, [owner, ttlMs]);
      if (places === undefined) return;
      const lost = new Set(placesOf(places).map((place) => batch[place - 1]));
      const nowMs = this.#ports.clock.monotonicMs();
      for (const run of batch) {
        if (lost.has(run)) refused.add(run);
        // One that was over when the confirmation came isn't had back (R2).
        else if (this.#deadlines.get(run, owner, nowMs)) this.#deadlines.set(run, owner, sentMs + ttlMs, true, nowMs);
      }
    });
    await Promise.all(renewed);
    const nowMs = this.#ports.clock.monotonicMs();
    const lost = runs.filter((run) => refused.has(run) || !this.#deadlines.get(run, owner, nowMs));
    for (const run of lost) this.#deadlines.delete(run, owner);
    return lost;
  }

  /** Also of what this process doesn't know to have: an acquisition may have succeeded without an answer. */
  async release(runs: readonly string[], owner: string): Promise<void> {
    for (const run of runs) this.#deadlines.delete(run, owner);
    if (runs.length === 0 || !this.#redis.isReady) return;
    await new Promise<void>((done) => {
      this.#releases.push({ runs, owner, done });
      this.#flushSoon();
    });
  }

  /** What is held runs out. */
  close(): void {
    this.#redis.close();
  }

  #flushSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#ports.clock.soon(() => {
      this.#scheduled = false;
      const [releases, acquisitions] = [this.#releases, this.#acquisitions];
      [this.#releases, this.#acquisitions] = [[], []];
      const byOwner = Map.groupBy(releases, ({ owner }) => owner);
      for (const [owner, ofOwner] of byOwner) void this.#sendReleases(owner, ofOwner);
      for (const batch of batches(acquisitions, this.#settings.maxBatch)) void this.#sendAcquisitions(batch);
    });
  }

  async #sendReleases(owner: string, releases: readonly Release[]): Promise<void> {
    const runs = releases.flatMap((release) => release.runs);
    await Promise.all(batches(runs, this.#settings.maxBatch).map((batch) => this.#run('release', batch, [owner])));
    for (const { done } of releases) done();
  }

  async #sendAcquisitions(batch: readonly Acquisition[]): Promise<void> {
    const { clock } = this.#ports;
    const sentMs = clock.monotonicMs();
    const values = batch.flatMap(({ owner, ttlMs }) => [owner, ttlMs]);
    const runs = batch.map(({ run }) => run);
    const answer = await this.#run('acquire', runs, values);
    const nowMs = clock.monotonicMs();
    const left = answer === undefined ? [] : placesOf(answer);
    for (const [index, { run, owner, ttlMs, done }] of batch.entries()) {
      const remainingMs = left[index];
      if (remainingMs === undefined) {
        done({ kind: 'unavailable' });
      } else if (remainingMs > 0) {
        done({ kind: 'held', remainingMs });
      } else {
        const untilMs = sentMs + ttlMs;
        // An answer that comes after the end of the lock gives nothing.
        if (nowMs >= untilMs) {
          done({ kind: 'unavailable' });
          continue;
        }
        this.#deadlines.set(run, owner, untilMs, true, nowMs);
        done({ kind: 'acquired' });
      }
    }
  }

  /** Undefined without an answer. */
  async #run(script: LockScript, runs: readonly string[], values: ReadonlyArray<string | number>): Promise<unknown> {
    const keys = runs.map((run) => this.#settings.keyPrefix + run);
    try {
      const answer = await this.#redis.run(script, keys, values);
      this.#told = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      this.#tell(error.message);
      return undefined;
    }
  }

  /** A connection that is away has told so. */
  #tell(problem: string): void {
    if (!this.#redis.isReady || this.#told !== undefined) return;
    this.#told = problem;
    this.#ports.logger.warn('Redis refuses run locks', { problem });
  }
}

function batches<T>(all: readonly T[], maxBatch: number): readonly T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < all.length; start += maxBatch) parts.push(all.slice(start, start + maxBatch));
  return parts;
}

/** Whole numbers, as the scripts answer them. */
function placesOf(answer: unknown): readonly number[] {
  if (Array.isArray(answer) && answer.every((value) => typeof value === 'number')) return answer;
  throw new Error(`invariant: a script answered ${JSON.stringify(answer)?.slice(0, 100)}`);
}
