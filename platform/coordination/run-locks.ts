// The port to run locks. A lock saves double work between two offers of a run; correctness never rests on it (protocol §5).

export interface RunLocks {
  /** Takes the lock of a run for `ttlMs`. */
  acquire(run: string, owner: string, ttlMs: number): Promise<LockResult>;
  /** Prolongs locks that `owner` still has, in one batch. Answers those it lost. */
  renew(runs: readonly string[], owner: string, ttlMs: number): Promise<readonly string[]>;
  release(runs: readonly string[], owner: string): Promise<void>;
}

export type LockResult =
  | { readonly kind: 'acquired' }
  /** Another owner has it; until then at the earliest, in ms from now. */
  | { readonly kind: 'held'; readonly remainingMs: number }
  /** The lock service didn't answer: go on without, the store decides. */
  | { readonly kind: 'unavailable' };
