// The locks of the runs that this process claims, and the rate at which it claims without them.
//
// Owns the locks it took, their renewal, and the line of claims that wait because locks don't answer.
//
// Invariants:
//   K1  A lock saves work, it proves nothing: the store's compare-and-set decides each claim. So nobody looks, when a claim is
//       written, whether its lock is over.
//   K2  While locks don't answer, at most `unlockedClaimsPerSecond` claims begin, in the order in which they came. With the first
//       answer all that wait ask for their locks again.
//   K3  At most as many wait as there are claims under way. Once stopped, nobody waits.

import type { RunId } from '../../flow/run.ts';
import type { Timer } from '../../platform/clock/clock.ts';
import { TokenBucket } from '../core/token-bucket.ts';
import type { DispatchSettings } from '../settings.ts';
import type { DispatchPorts } from './ports.ts';

/** `claim`: with the lock, or without it because locks don't answer. */
export type Permission =
  | { readonly kind: 'claim' }
  /** Another process has the lock, for so many ms at most. */
  | { readonly kind: 'busy'; readonly forMs: number }
  | { readonly kind: 'stopped' };

type Turn = 'claim' | 'ask again' | 'stopped';

/** Times that a claim asks for its lock: locks that come and go so quickly are left to the run's next offer. */
const maxRounds = 3;

/** The part of a second's claims that may begin at once. */
const burstShare = 0.1;

export class ClaimLocks {
  readonly #ports: Pick<DispatchPorts, 'clock' | 'locks' | 'onError' | 'onLocks'>;
  readonly #owner: string;
  readonly #ttlMs: number;
  /** The number of each lock: the same run may be given up and claimed again while a renewal is under way. */
  readonly #locked = new Map<RunId, number>();
  #lockNumber = 0;
  readonly #bucket: TokenBucket;
  #waiting: Array<(turn: Turn) => void> = [];
  #turns: Timer | undefined;
  #renewal: Timer | undefined;
  #awaySinceMs: number | undefined;
  #unlockedClaims = 0;
  #stopped = false;

  constructor(
    owner: string,
    ports: Pick<DispatchPorts, 'clock' | 'locks' | 'onError' | 'onLocks'>,
    { lockTtlMs, unlockedClaimsPerSecond }: Pick<DispatchSettings, 'lockTtlMs' | 'unlockedClaimsPerSecond'>,
  ) {
    this.#owner = owner;
    this.#ports = ports;
    this.#ttlMs = lockTtlMs;
    const burst = Math.max(1, Math.floor(unlockedClaimsPerSecond * burstShare));
    this.#bucket = new TokenBucket({ perSecond: unlockedClaimsPerSecond, burst });
    this.#renewLater();
  }

  /** Claims that began without a lock, since the start. */
  get unlockedClaims(): number {
    return this.#unlockedClaims;
  }

  /** Resolves when the run may be claimed, or not. What may be claimed is given back by `release`. */
  async take(run: RunId): Promise<Permission> {
    for (let round = 0; round < maxRounds; round++) {
      const lock = await this.#ports.locks.acquire(run, this.#owner, this.#ttlMs);
      if (lock.kind !== 'unavailable') this.#answered();
      if (lock.kind === 'held') return { kind: 'busy', forMs: lock.remainingMs };
      const turn = lock.kind === 'acquired' ? 'claim' : await this.#unlockedTurn();
      if (turn === 'stopped') return { kind: 'stopped' };
      if (turn === 'ask again') continue;
      // Without an answer the lock may have been taken all the same: so it is given back like one.
      this.#locked.set(run, ++this.#lockNumber);
      return { kind: 'claim' };
    }
    return { kind: 'busy', forMs: 0 };
  }

  /** Forgets the lock of a run, and gives it back when it may still be ours. A lock that nobody gives back runs out. */
  release(run: RunId, giveBack: boolean): void {
    if (!this.#locked.delete(run) || !giveBack) return;
    const { locks, onError } = this.#ports;
    locks.release([run], this.#owner).catch((error: unknown) => onError(error, 'releasing a run lock'));
  }

  /** Nothing waits for a lock any more. */
  stopWaiting(): void {
    this.#stopped = true;
    this.#wake('stopped');
  }

  /** Nothing is renewed any more. */
  close(): void {
    this.stopWaiting();
    this.#renewal?.cancel();
  }

  #answered(): void {
    if (this.#awaySinceMs === undefined) return;
    const awayMs = this.#ports.clock.monotonicMs() - this.#awaySinceMs;
    this.#awaySinceMs = undefined;
    this.#ports.onLocks?.({ kind: 'back', awayMs, unlockedClaims: this.#unlockedClaims });
    this.#wake('ask again');
  }

  async #unlockedTurn(): Promise<Turn> {
    if (this.#stopped) return 'stopped';
    if (this.#awaySinceMs === undefined) {
      this.#awaySinceMs = this.#ports.clock.monotonicMs();
      this.#ports.onLocks?.({ kind: 'away' });
    }
    const turn = await new Promise<Turn>((resolve) => {
      this.#waiting.push(resolve);
      this.#giveTurns();
    });
    if (turn === 'claim') this.#unlockedClaims++;
    return turn;
  }

  #giveTurns(): void {
    this.#turns?.cancel();
    while (this.#waiting.length > 0) {
      const waitMs = this.#bucket.take(this.#ports.clock.monotonicMs());
      if (waitMs > 0) {
        this.#turns = this.#ports.clock.after(waitMs, () => this.#giveTurns());
        return;
      }
      this.#waiting.shift()?.('claim');
    }
  }

  #wake(turn: 'ask again' | 'stopped'): void {
    this.#turns?.cancel();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(turn);
  }

  #renewLater(): void {
    const { clock, onError } = this.#ports;
    this.#renewal = clock.after(this.#ttlMs / 3, () => {
      this.#renewLater();
      if (this.#locked.size > 0) this.#renew().catch((error: unknown) => onError(error, 'renewing run locks'));
    });
  }

  /** What is lost isn't ours to renew, or to give back: the run itself stays until the store says that it went on. */
  async #renew(): Promise<void> {
    const renewed = new Map(this.#locked);
    const lost = await this.#ports.locks.renew([...renewed.keys()], this.#owner, this.#ttlMs);
    for (const run of lost as readonly RunId[]) {
      if (this.#locked.get(run) === renewed.get(run)) this.#locked.delete(run);
    }
  }
}
