// Run locks on several independent Redis servers, of which more than half must agree (Redlock): a server that fails, or loses
// its memory, loses no lock. Costs as many calls as there are servers for each lock, and batches none.
//
// Ownership: one object for the whole process. Owns the locks of this process, as the package hands them out.
//
// Invariants:
//   Q1  A lock counts as ours until its deadline: from before the first server was asked, by our own monotonic clock, less the drift
//       that their clocks may have. The package judges by the wall clock, which may jump: it is not relied on.
//   Q2  Each server answers in time or counts as one that didn't agree (connection.ts), so every call ends.
//   Q3  At most `maxWaiting` acquisitions wait for an answer.

import Redlock, { type Arguments, type Callback, type Client, type Lock } from 'redlock';
import type { LockResult, RunLocks } from '../run-locks.ts';
import { RedisConnection, type RedisPorts, RedisRefusedError } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { type RedisServer, type RedisSettings, redisSettings, shownServer } from './settings.ts';

/** Share of a time to live by which the clock of a server may go faster than ours: a hundred times what clocks without service do. */
const driftFactor = 0.01;
/** Redis ends keys to the millisecond; one more for ours. */
const leastDriftMs = 2;
const maxServers = 9;

/** What the locks need of a connection. */
export interface Caller {
  readonly isReady: boolean;
  /** Rejects when there is no answer. */
  call(command: string, values: ReadonlyArray<string | number>): Promise<unknown>;
  close(): void;
}

/**
 * Resolves when it is known which servers are there; none need be. Throws RedisRefusedError when one is not fit, RangeError when they
 * are not an odd number from 3 to 9 of different ones, or of a setting.
 */
export async function openQuorumRunLocks(
  servers: readonly RedisServer[],
  settings: Partial<RedisSettings>,
  ports: RedisPorts,
): Promise<QuorumRunLocks> {
  const all = redisSettings(settings);
  if (servers.length < 3 || servers.length > maxServers || servers.length % 2 === 0) {
    throw new RangeError(`${servers.length} Redis servers; allowed is an odd number from 3 to ${maxServers}`);
  }
  const shown = servers.map(shownServer);
  const twice = shown.find((name, index) => shown.indexOf(name) !== index);
  if (twice !== undefined) throw new RangeError(`Redis server ${twice} is named twice; each has one vote`);
  const connections = servers.map((server) => new RedisConnection(server, all, ports));
  const opened = await Promise.allSettled(connections.map((connection) => connection.open()));
  const refusals = opened.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  if (refusals.length > 0) {
    for (const connection of connections) connection.close();
    throw new RedisRefusedError(refusals.map(({ message }) => message).join('; '));
  }
  return new QuorumRunLocks(connections, all, ports);
}

export class QuorumRunLocks implements RunLocks {
  readonly #servers: readonly Caller[];
  readonly #settings: RedisSettings;
  readonly #clock: RedisPorts['clock'];
  readonly #redlock: Redlock;
  readonly #locks = new Deadlines<Lock>();
  #waiting = 0;

  constructor(servers: readonly Caller[], settings: RedisSettings, { clock }: Pick<RedisPorts, 'clock'>) {
    this.#servers = servers;
    this.#settings = settings;
    this.#clock = clock;
    // Who didn't get a lock comes again with the run's next offer.
    this.#redlock = new Redlock(servers.map(clientOf), { driftFactor, retryCount: 0 });
  }

  /** An owner that has the lock already gets it again, with the new time. */
  async acquire(run: string, owner: string, ttlMs: number): Promise<LockResult> {
    if (!this.#haveQuorum() || this.#waiting >= this.#settings.maxWaiting) return { kind: 'unavailable' };
    this.#waiting++;
    try {
      if (await this.#extend(run, owner, ttlMs)) return { kind: 'acquired' };
      return (await this.#lock(run, owner, ttlMs)) ?? (await this.#refusal(run));
    } finally {
      this.#waiting--;
    }
  }

  /** A lock that no majority prolongs is lost. */
  async renew(runs: readonly string[], owner: string, ttlMs: number): Promise<readonly string[]> {
    const lost: string[] = [];
    for (let start = 0; start < runs.length; start += this.#settings.maxBatch) {
      const batch = runs.slice(start, start + this.#settings.maxBatch);
      const extended = await Promise.all(batch.map((run) => this.#extend(run, owner, ttlMs)));
      lost.push(...batch.filter((_, index) => !extended[index]));
    }
    return lost;
  }

  async release(runs: readonly string[], owner: string): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const given = runs.map(async (run) => {
      const lock = this.#locks.get(run, owner, nowMs);
      this.#locks.delete(run, owner);
      if (!lock) return;
      // Servers that don't give it back now let it run out.
      await this.#redlock.unlock(lock).then(undefined, ignoreLockError);
    });
    await Promise.all(given);
  }

  /** What is held runs out. */
  close(): void {
    for (const server of this.#servers) server.close();
  }

  get #quorum(): number {
    return Math.floor(this.#servers.length / 2) + 1;
  }

  #haveQuorum(): boolean {
    return this.#servers.filter(({ isReady }) => isReady).length >= this.#quorum;
  }

  /** Undefined without a majority. */
  async #lock(run: string, owner: string, ttlMs: number): Promise<LockResult | undefined> {
    const sentMs = this.#clock.monotonicMs();
    const lock = await this.#redlock.lock(this.#keyOf(run), ttlMs).then((locked) => locked, ignoreLockError);
    if (!lock) return undefined;
    if (this.#keep(run, owner, lock, sentMs, ttlMs)) return { kind: 'acquired' };
    // The majority took so long that the lock is over.
    return { kind: 'unavailable' };
  }

  /** False when the lock is lost: the package takes back what too few servers prolonged. */
  async #extend(run: string, owner: string, ttlMs: number): Promise<boolean> {
    const sentMs = this.#clock.monotonicMs();
    const lock = this.#locks.get(run, owner, sentMs);
    if (!lock) return false;
    const extended = await this.#redlock.extend(lock, ttlMs).then((longer) => longer, ignoreLockError);
    // One that was over when the confirmation came isn't had back.
    const wasOver = !this.#locks.get(run, owner, this.#clock.monotonicMs());
    if (extended && !wasOver && this.#keep(run, owner, extended, sentMs, ttlMs)) return true;
    this.#locks.delete(run, owner);
    return false;
  }

  #keep(run: string, owner: string, lock: Lock, sentMs: number, ttlMs: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const untilMs = sentMs + ttlMs - Math.round(driftFactor * ttlMs) - leastDriftMs;
    if (nowMs >= untilMs) return false;
    this.#locks.set(run, owner, untilMs, lock, nowMs);
    return true;
  }

  /** Why there was no majority. The package doesn't say how long others have the lock: until a majority of the servers is free of it. */
  async #refusal(run: string): Promise<LockResult> {
    const asked = this.#servers.map((server) => server.call('pttl', [this.#keyOf(run)]));
    const answers = (await Promise.allSettled(asked)).flatMap((answer) =>
      answer.status === 'fulfilled' && typeof answer.value === 'number' ? [answer.value] : [],
    );
    const remainingMs = answers.toSorted((one, other) => one - other)[this.#quorum - 1];
    // Two who came at the same time may both have got too few: nobody has it, and the next offer may.
    return remainingMs === undefined
      ? { kind: 'unavailable' }
      : { kind: 'held', remainingMs: Math.max(1, remainingMs) };
  }

  #keyOf(run: string): string {
    return this.#settings.keyPrefix + run;
  }
}

function clientOf(server: Caller): Client {
  const ask = async (command: string, values: Arguments, done: Callback): Promise<void> => {
    const [error, result] = await server.call(command, values).then(
      (answer) => [null, answer] as const,
      (reason: Error) => [reason, undefined] as const,
    );
    // What it returns is the package's own business: a promise of its mustn't become ours.
    done(error, result);
  };
  return {
    evalsha: (hash, values, done) => void ask('evalsha', [hash, ...values], done),
    eval: (values, done) => void ask('eval', values, done),
  };
}

/** Without a majority the package throws; that is an answer here. */
function ignoreLockError(error: unknown): undefined {
  if (error instanceof Redlock.LockError) return undefined;
  throw error;
}
