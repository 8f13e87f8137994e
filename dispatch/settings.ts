// Settings of dispatch: unit, default and reason of each.

export interface DispatchSettings {
  /**
   * Runs held at once. [512] Enough to keep the modules of one machine busy while each run waits for its calls; each of them is
   * interrupted when the process dies, and its calls count as lost.
   */
  readonly maxRuns: number;
  /** Bytes of the fields of the runs held at once. What is held may grow beyond it; then nothing more is taken. [256 MiB] A quarter of the heap that Node takes by default. */
  readonly maxBytes: number;
  /** Claims under way at once. [256] Enough to fill the store's groups; more would only wait in memory. */
  readonly maxClaims: number;
  /**
   * A run that sleeps at least this long is let go, in ms. [2,000] Letting go and claiming again costs two writes and a read;
   * holding costs memory and a place.
   */
  readonly keepMs: number;
  /**
   * How long a message of a stream waits for room before its items are stored to wait their turn, in ms. [1,000] Long enough to pace
   * a stream to what modules that keep up can do; short enough that a few thousand items a second are taken in when they don't.
   */
  readonly patienceMs: number;
  /** How long exit calls may take, in ms. [1 h] They are for other systems to hear of the end, which may be down for a while. */
  readonly endingDeadlineMs: number;
  /** How long a draining dispatch waits for calls that are out, in ms. [20,000] Inside the 30 s that supervisors allow. */
  readonly drainMs: number;
  /** Time to live of a run lock, in ms. [15,000] Renewed at a third of it. */
  readonly lockTtlMs: number;
  /**
   * Claims that begin in a second while run locks don't answer. [200] Then two processes that are offered the same run both read it and
   * write, one in vain: what is lost so stays a small part of what the store does, and a flow of some millions of runs a day goes on.
   */
  readonly unlockedClaimsPerSecond: number;
}

export const dispatchDefaults: DispatchSettings = {
  maxRuns: 512,
  maxBytes: 256 * 1024 * 1024,
  maxClaims: 256,
  keepMs: 2_000,
  patienceMs: 1_000,
  endingDeadlineMs: 3_600_000,
  drainMs: 20_000,
  lockTtlMs: 15_000,
  unlockedClaimsPerSecond: 200,
};
