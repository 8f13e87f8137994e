/** Longest interval of Node's timers: 24 days. It does nothing. */
const intervalMs = 2 ** 31 - 1;

/**
 * Does work that may wait by the clock alone, with no connection open: for a server to come back. The clock's timers keep no process
 * alive, so that it would end in the middle.
 */
export async function keptAlive<Result>(work: () => Promise<Result>): Promise<Result> {
  const timer = setInterval(() => {}, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
