// SIGTERM and SIGINT for all modules of this process.
//
// Owns the set of running modules and the process's handlers for the two signals.
// 1. Handlers are installed exactly while the set is not empty, so that a process without modules keeps its own behaviour.
// 2. The first signal stops all modules and then ends the process with code 0; a second one ends it at once.

const signals = ['SIGTERM', 'SIGINT'] as const;
const running = new Set<() => Promise<unknown>>();
let terminating = false;

/** Stops a module when the process is told to end. Gives the function that takes it out again. */
export function stopAtTermination(stop: () => Promise<unknown>): () => void {
  if (running.size === 0) for (const signal of signals) process.on(signal, onSignal);
  running.add(stop);
  return () => {
    if (!running.delete(stop) || running.size > 0 || terminating) return;
    for (const signal of signals) process.off(signal, onSignal);
  };
}

function onSignal(): void {
  if (terminating) process.exit(1);
  terminating = true;
  void Promise.allSettled([...running].map((stop) => stop())).then(() => process.exit(0));
}
