// What we use of the package redlock 4, which brings no types.

declare module 'redlock' {
  export type Callback = (error: Error | null, result?: unknown) => unknown;
  export type Arguments = ReadonlyArray<string | number>;

  /** What is asked of a client of one server. */
  export interface Client {
    evalsha(hash: string, values: Arguments, callback: Callback): void;
    eval(values: Arguments, callback: Callback): void;
  }

  export interface Lock {
    /** When it ends, in ms since 1970, with the drift of clocks taken off. */
    readonly expiration: number;
  }

  export interface Options {
    /** Share of the time to live by which clocks may drift apart. */
    readonly driftFactor?: number;
    readonly retryCount?: number;
  }

  class Redlock {
    static readonly LockError: new () => Error;
    constructor(clients: readonly Client[], options?: Options);
    /** Rejects with LockError without a majority. Time to live in ms. */
    lock(resource: string, ttlMs: number): PromiseLike<Lock>;
    extend(lock: Lock, ttlMs: number): PromiseLike<Lock>;
    unlock(lock: Lock): PromiseLike<void>;
  }

  export default Redlock;
}
