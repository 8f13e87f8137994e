import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { LockResult } from '../run-locks.ts';
import { NoAnswerError } from './connection.ts';
import { type Caller, QuorumRunLocks } from './quorum-run-locks.ts';
import { redisSettings } from './settings.ts';

/** Answers each command as the test says, in the time that it says. */
class Scripted implements Caller {
  isReady = true;
  readonly #clock: ManualClock;
  readonly #answers: Readonly<Record<string, unknown>>;
  readonly #afterMs: number;

  constructor(clock: ManualClock, answers: Readonly<Record<string, unknown>>, afterMs = 1) {
    this.#clock = clock;
    this.#answers = answers;
    this.#afterMs = afterMs;
  }

  call(command: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#clock.after(this.#afterMs, () => {
        if (command in this.#answers) resolve(this.#answers[command]);
        else reject(new NoAnswerError('Command timed out'));
      });
    });
  }

  close(): void {}
}

function world(serversOf: (clock: ManualClock) => readonly Caller[]) {
  const clock = new ManualClock();
  const servers = serversOf(clock);
  const locks = new QuorumRunLocks(servers, redisSettings({}), { clock });
  const acquire = async (run: string, ttlMs: number) => {
    const results: LockResult[] = [];
    void locks.acquire(run, 'me', ttlMs).then((result) => results.push(result));
    // The package goes on some turns after its answers, with commands that take time of their own.
    for (let step = 0; step < 1_000 && results.length === 0; step++) await clock.advance(10);
    return results[0];
  };
  return { clock, servers, locks, acquire };
}

describe('run locks of a majority', () => {
  it('are not acquired by an answer that comes after their end', async () => {
    const { acquire, locks } = world((clock) =>
      [500, 990, 1].map((afterMs) => new Scripted(clock, { evalsha: 1 }, afterMs)),
    );
    expect(await acquire('r', 1_000)).toEqual({ kind: 'unavailable' });
    expect(await locks.renew(['r'], 'me', 1_000)).toEqual(['r']);
  });

  it('are held until a majority is free of them', async () => {
    const { acquire } = world((clock) => [400, -2, 700].map((pttl) => new Scripted(clock, { evalsha: 0, pttl })));
    expect(await acquire('r', 60_000)).toEqual({ kind: 'held', remainingMs: 400 });
  });

  it('are unavailable without a majority that answers, at once when that is known', async () => {
    const { acquire, locks, servers } = world((clock) => [
      new Scripted(clock, { evalsha: 1, pttl: -2 }),
      new Scripted(clock, {}),
      new Scripted(clock, {}),
    ]);
    expect(await acquire('r', 60_000)).toEqual({ kind: 'unavailable' });
    for (const server of servers.slice(1) as Scripted[]) server.isReady = false;
    expect(await locks.acquire('r', 'me', 60_000)).toEqual({ kind: 'unavailable' });
  });
});
