// Runs seeds in processes of their own, several at once, and tells of them in their order, whoever is done first.
//
// Owns its workers; each of them runs one seed at a time.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { clearTimeout, setTimeout } from 'node:timers';
import { inOrder } from './in-order.ts';
import type { SeedReport } from './seed-report.ts';

export interface CrewOptions {
  /** Workers at once. */
  readonly workers: number;
  /** The fault that all of them plant. */
  readonly mutant?: string;
}

/**
 * How long one world may take, in ms; beyond it its worker is ended. [60,000] A hundred times what the largest need: only a world
 * that spins takes longer.
 */
const maxWorldMs = 60_000;

const workerFile = new URL('worker.ts', import.meta.url);

/** One report for each seed, in the order of `seeds`. */
export async function* runSeeds(
  seeds: readonly number[],
  { workers, mutant }: CrewOptions,
): AsyncGenerator<SeedReport> {
  const crew = Array.from({ length: workers }, () => new Worker(mutant));
  try {
    yield* inOrder(seeds, workers, (seed, lane) => workerOn(crew, lane).run(seed));
  } finally {
    for (const worker of crew) worker.end();
  }
}

function workerOn(crew: readonly Worker[], lane: number): Worker {
  const worker = crew[lane];
  if (!worker) throw new Error(`no worker on lane ${lane}`);
  return worker;
}

class Worker {
  readonly #mutant: string | undefined;
  #child: ChildProcess | undefined;

  constructor(mutant: string | undefined) {
    this.#mutant = mutant;
  }

  /** Runs one world. One that spins or that ends its process is reported as such; the next begins in a new one. */
  async run(seed: number): Promise<SeedReport> {
    const child = (this.#child ??= await this.#start());
    const answered = new Promise<SeedReport>((resolve) => {
      const settle = (report: SeedReport) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(report);
      };
      const broke = (how: string) => {
        this.#child = undefined;
        child.kill('SIGKILL');
        settle({ seed, violations: [{ checker: 'no bugs', message: `the world ${how}` }], more: 0 });
      };
      const timer = setTimeout(() => broke(`spins: it takes more than ${maxWorldMs} ms`), maxWorldMs);
      child.once('message', (report) => settle(report as SeedReport));
      child.once('exit', (code, signal) => broke(`ended its process: ${signal ?? code}`));
    });
    child.send(seed);
    return answered;
  }

  end(): void {
    if (this.#child?.connected) this.#child.disconnect();
    this.#child = undefined;
  }

  async #start(): Promise<ChildProcess> {
    const arguments_ = this.#mutant === undefined ? [] : [this.#mutant];
    const child = fork(workerFile, arguments_, { serialization: 'advanced', execArgv: [] });
    const ended = once(child, 'exit').then(() => {
      throw new Error('a worker of the simulation ended before its first world');
    });
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => {});
    child.removeAllListeners();
    return child;
  }
}
