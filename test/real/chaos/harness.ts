// Chaos: real processes work through many items while they are killed and paused at random and die at fail points; then everything
// is left to finish, and what stands in the store is compared with what the client and the modules wrote down.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { audit, type Findings } from './audit.ts';
import { arrange } from './calls.ts';
import { Client } from './client.ts';
import { createEmbeddedTarget } from './embedded-target.ts';
import { FailPointDrill } from './fail-point-drill.ts';
import { readLedgers } from './ledger.ts';
import { Orphans } from './orphans.ts';
import { type Disturbance, drawPlan, type Plan, printPlan } from './plan.ts';
import { Progress } from './progress.ts';
import type { Role } from './supervised-process.ts';
import type { Target, TargetOptions } from './target.ts';

export const targets: Readonly<Record<string, (options: TargetOptions) => Target>> = {
  embedded: createEmbeddedTarget,
};

export interface ChaosOptions {
  readonly target: string;
  readonly items: number;
  readonly kills: number;
  /** Of all that is chosen at random. */
  readonly seed: number;
  /** For people: the plan, and what is waited for. */
  readonly say: (line: string) => void;
  /** For people who look for a cause: each thing as it happens, with its time. */
  readonly trace?: (line: string) => void;
}

export interface ChaosReport extends Findings {
  readonly items: number;
  readonly acknowledged: number;
  readonly cancels: Client['cancels'];
  readonly kills: Readonly<Record<Role, number>>;
  readonly pauses: number;
  readonly poisonDeaths: number;
  readonly failPoints: FailPointDrill['record'];
  readonly seconds: number;
}

/** Short, so that a pause of twice as long is seen. */
const lockTtlMs = 1_000;
const pauseMs = 2 * lockTtlMs;
/** How long a fail point that is armed last is waited for before more items come. */
const beatMs = 1_000;
/**
 * How far items and disturbances may be apart, in shares of a disturbance. The client is not so much ahead that the last items are
 * left alone, the disturbances not so much that they meet an engine without work.
 */
const ahead = { client: 3, disturbances: 3 };

/** Shares for fail points that need an engine to be killed once more, and for the quiet end. */
const spareShares = 6;

/**
 * Runs chaos. What goes wrong is in `violations`, also what keeps it from being finished: a run that is stuck, a process that ends
 * for no reason.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  const orphans = new Orphans();
  orphans.leave(folder);
  try {
    return await new Chaos(options, folder, orphans).run();
  } finally {
    await orphans.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Chaos {
  readonly #options: ChaosOptions;
  readonly #ledgers: string;
  readonly #target: Target;
  readonly #plan: Plan;
  readonly #drill: FailPointDrill;
  readonly #progress: Progress;
  readonly #failed = new AbortController();
  readonly #kills = { engine: 0, module: 0 };
  #pauses = 0;
  #poisonDeaths = 0;
  #disturbed = 0;
  /** Nothing more is done to the processes. */
  #isCalm = false;
  #beganMs = performance.now();

  constructor(options: ChaosOptions, folder: string, orphans: Orphans) {
    const { seed } = options;
    this.#options = options;
    this.#ledgers = join(folder, 'ledgers');
    mkdirSync(this.#ledgers);
    const create = targets[options.target];
    if (!create) throw new Error(`target ${options.target} is unknown, allowed are ${Object.keys(targets).join(', ')}`);
    const listener = {
      nextFailPoint: () => this.#drill.arm(),
      announced: (victim: string, what: string) => this.#announced(victim, what),
      unexplained: (message: string) => this.#failed.abort(new Error(message)),
    };
    this.#target = create({ folder, ledgers: this.#ledgers, seed, pauseMs, lockTtlMs, orphans, listener });
    const roles = this.#target.victims.map(({ role }) => role);
    this.#plan = drawPlan(seed, options.kills, roles);
    this.#drill = new FailPointDrill(this.#plan.failPoints);
    this.#progress = new Progress(this.#target.addresses, this.#failed.signal);
  }

  async run(): Promise<ChaosReport> {
    const { items, say } = this.#options;
    const { victims, addresses } = this.#target;
    const names = victims.map(({ name }) => name);
    say(printPlan(this.#plan, names));
    const client = new Client(addresses, items, () => this.#allowed());
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

  async #work(client: Client): Promise<void> {
    await this.#orFailed(this.#target.start());
    this.#beganMs = performance.now();
    const submission = client.submitAll(this.#failed.signal);
    submission.catch((error: unknown) => this.#failed.abort(error));
    await this.#orFailed(this.#disturb());
    this.#isCalm = true;
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

  /** Items that the client may have sent. */
  #allowed(): number {
    if (this.#isCalm) return this.#options.items;
    return Math.ceil((this.#disturbed + this.#drill.struck + ahead.client) * this.#share);
  }

  /** Items for each disturbance. */
  get #share(): number {
    const { disturbances, failPoints } = this.#plan;
    return this.#options.items / (disturbances.length + failPoints.length + spareShares);
  }

  async #disturb(): Promise<void> {
    const pauses: Promise<void>[] = [];
    for (const disturbance of this.#plan.disturbances) {
      await this.#between(disturbance.afterMs);
      if (disturbance.kind === 'kill') await this.#kill(disturbance);
      else pauses.push(this.#pause(disturbance));
      this.#disturbed++;
    }
    await Promise.all(pauses);
    await this.#finishDrill();
  }

  /** The fail points that are left: engines are killed until all were armed and have struck, or the work is over. */
  async #finishDrill(): Promise<void> {
    const victim = this.#target.victims.findIndex(({ role }) => role === 'engine');
    for (; !this.#drill.isOver && this.#allowed() < this.#options.items; this.#disturbed++) {
      await this.#between(beatMs);
      if (!this.#drill.isArmed && !this.#drill.isOver) await this.#kill({ victim });
    }
  }

  /** A commit was accepted since the last disturbance, its items have come to rest, and time has passed. */
  async #between(leastMs: number): Promise<void> {
    const worked = (this.#disturbed + this.#drill.struck - ahead.disturbances) * this.#share;
    await Promise.all([this.#progress.untilCommit(), this.#progress.untilAtRest(worked), this.#pass(leastMs)]);
  }

  async #pass(durationMs: number): Promise<void> {
    await pause(durationMs, undefined, { signal: this.#failed.signal });
  }

  async #kill({ victim }: Pick<Disturbance, 'victim'>): Promise<void> {
    const killed = this.#target.victims[victim];
    if (!killed) throw new Error(`there is no process ${victim}`);
    // One that ends by itself at that very moment was not killed: again.
    while (!(await killed.kill())) await this.#between(0);
    this.#kills[killed.role]++;
    this.#trace(`killed ${killed.name}`);
  }

  async #pause({ victim }: Disturbance): Promise<void> {
    const paused = this.#target.victims[victim];
    this.#pauses++;
    this.#trace(`paused ${paused?.name}`);
    await paused?.pause(pauseMs);
  }

  #trace(line: string): void {
    this.#options.trace?.(`${this.#seconds().toFixed(1).padStart(6)} s  ${line}`);
  }

  #seconds(): number {
    return (performance.now() - this.#beganMs) / 1_000;
  }

  #announced(victim: string, what: string): void {
    this.#trace(`${victim}: ${what}`);
    if (what === 'poison') this.#poisonDeaths++;
    else if (!this.#drill.strike(what))
      this.#failed.abort(new Error(`${victim} ended at ${what}, which was not armed`));
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
      findings.violations.unshift(...violations);
      for (const [place, { deaths, stops }] of this.#drill.record) {
        if (deaths + stops === 0) findings.violations.push(`fail point ${place} was never reached`);
      }
      return {
        ...findings,
        ...{ items, acknowledged: client.acknowledged.size, cancels: client.cancels, kills: this.#kills },
        ...{ pauses: this.#pauses, poisonDeaths: this.#poisonDeaths, failPoints: this.#drill.record, seconds },
      };
    } finally {
      await store.close();
    }
  }
}
