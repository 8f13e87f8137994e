// Chaos: real processes work through many items while they are killed and paused at random and die at fail points; then everything
// is left to finish, and what stands in the store is compared with what the client and the modules wrote down.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { audit, type Findings } from './audit.ts';
import { arrange } from './calls.ts';
import { Client } from './client.ts';
import { createClusterTarget } from './cluster-target.ts';
import type { Disturber, Done } from './disturber.ts';
import { createEmbeddedTarget } from './embedded-target.ts';
import { readLedgers } from './ledger.ts';
import { Orphans } from './orphans.ts';
import { PacedByClock } from './paced-by-clock.ts';
import { PacedByProgress } from './paced-by-progress.ts';
import { Progress } from './progress.ts';
import type { Target, TargetOptions } from './target.ts';

export const targets: Readonly<Record<string, (options: TargetOptions) => Promise<Target>>> = {
  embedded: async (options) => createEmbeddedTarget(options),
  cluster: createClusterTarget,
};

export interface ChaosOptions {
  readonly target: string;
  readonly items: number;
  /** How much is disturbed: so many kills, as fast as the work goes on; or a disturbance each second for so long. */
  readonly disturbances: { readonly kills: number } | { readonly seconds: number };
  /** Of all that is chosen at random. */
  readonly seed: number;
  /** For people: the plan, and what is waited for. */
  readonly say: (line: string) => void;
  /** For people who look for a cause: each thing as it happens, with its time. */
  readonly trace?: (line: string) => void;
}

export interface ChaosReport extends Findings, Done {
  readonly items: number;
  readonly acknowledged: number;
  readonly cancels: Client['cancels'];
  readonly poisonDeaths: number;
  readonly staleWrites: number;
  readonly seconds: number;
}

/** Short, so that a pause of twice as long is seen. */
const lockTtlMs = 1_000;
const pauseMs = 2 * lockTtlMs;
/** Longer than a session at ZooKeeper lives (4 s) and its holder's runs are left to it then (8 s): others have taken them over. */
const longPauseMs = 16_000;

/**
 * Runs chaos. What goes wrong is in `violations`, also what keeps it from being finished: a run that is stuck, a process that ends
 * for no reason.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  const ledgers = join(folder, 'ledgers');
  mkdirSync(ledgers);
  const orphans = new Orphans();
  orphans.leave(folder);
  const failed = new AbortController();
  let chaos: Chaos | undefined;
  const listener = {
    nextFailPoint: () => chaos?.disturber.nextFailPoint(),
    announced: (victim: string, what: string) => chaos?.announced(victim, what),
    unexplained: (message: string) => failed.abort(new Error(message)),
  };
  try {
    const create = targets[options.target];
    if (!create) throw new Error(`target ${options.target} is unknown, allowed are ${Object.keys(targets).join(', ')}`);
    const target = await create({ folder, ledgers, seed: options.seed, pauseMs, lockTtlMs, orphans, listener });
    try {
      chaos = new Chaos(options, target, ledgers, failed);
      return await chaos.run();
    } finally {
      await target.close();
    }
  } finally {
    await orphans.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Chaos {
  readonly disturber: Disturber;
  readonly #options: ChaosOptions;
  readonly #ledgers: string;
  readonly #target: Target;
  readonly #progress: Progress;
  readonly #failed: AbortController;
  #poisonDeaths = 0;
  #beganMs = performance.now();

  constructor(options: ChaosOptions, target: Target, ledgers: string, failed: AbortController) {
    this.#options = options;
    this.#target = target;
    this.#ledgers = ledgers;
    this.#failed = failed;
    this.#progress = new Progress(target, failed.signal);
    const { items, seed, disturbances } = options;
    const surroundings = {
      ...{ items, seed, target, pauseMs, longPauseMs, progress: this.#progress },
      pass: (durationMs: number) => pause(durationMs, undefined, { signal: failed.signal }),
      trace: (line: string) => this.#trace(line),
    };
    this.disturber =
      'kills' in disturbances
        ? new PacedByProgress({ ...surroundings, ...disturbances })
        : new PacedByClock({ ...surroundings, ...disturbances });
  }

  async run(): Promise<ChaosReport> {
    const { items, say } = this.#options;
    say(this.disturber.plan);
    const client = new Client(this.#target.addresses, items, () => this.disturber.allowed());
    const unfinished: string[] = [];
    try {
      await this.#work(client);
    } catch (error) {
      // What can't be finished is judged as it stands.
      unfinished.push(error instanceof Error ? error.message : String(error));
      this.#failed.abort(error);
      await this.#target.abandon();
    } finally {
      this.#progress.close();
    }
    return this.#report(client, [...unfinished, ...client.violations], this.#seconds());
  }

  announced(victim: string, what: string): void {
    this.#trace(`${victim}: ${what}`);
    if (what === 'poison') this.#poisonDeaths++;
    else if (!this.disturber.strike(what))
      this.#failed.abort(new Error(`${victim} ended at ${what}, which was not armed`));
  }

  async #work(client: Client): Promise<void> {
    await this.#orFailed(this.#target.start());
    this.#beganMs = performance.now();
    const submission = client.submitAll(this.#failed.signal);
    submission.catch((error: unknown) => this.#failed.abort(error));
    await this.#orFailed(this.disturber.disturb());
    this.#options.say('disturbed enough: the rest is left to finish');
    await this.#orFailed(submission);
    this.#trace('all acknowledged');
    await this.#orFailed(this.#progress.untilAtRest(this.#options.items));
    this.#trace('all at rest');
    await this.#orFailed(this.#target.stop());
  }

  /** Ends the waiting as soon as something has gone wrong elsewhere. */
  async #orFailed<Result>(what: Promise<Result>): Promise<Result> {
    const { signal } = this.#failed;
    const failed = new Promise<never>((_, reject) => {
      const fail = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
      if (signal.aborted) fail();
      else signal.addEventListener('abort', fail, { once: true });
    });
    return Promise.race([what, failed]);
  }

  #trace(line: string): void {
    this.#options.trace?.(`${this.#seconds().toFixed(1).padStart(6)} s  ${line}`);
  }

  #seconds(): number {
    return (performance.now() - this.#beganMs) / 1_000;
  }

  async #report(client: Client, violations: readonly string[], seconds: number): Promise<ChaosReport> {
    const { items } = this.#options;
    const store = await this.#target.openStore();
    try {
      const findings = await audit({
        items,
        acknowledged: new Set(client.acknowledged.keys()),
        calls: arrange(readLedgers(this.#ledgers)),
        store,
        poisonedEndpoints: this.#target.endpoints.get('chaos.branch') ?? [],
      });
      findings.violations.unshift(...violations, ...this.disturber.missed);
      return {
        ...findings,
        ...this.disturber.done,
        ...{ items, acknowledged: client.acknowledged.size, cancels: client.cancels },
        ...{ poisonDeaths: this.#poisonDeaths, staleWrites: this.#target.staleWrites(), seconds },
      };
    } finally {
      await store.close();
    }
  }
}
