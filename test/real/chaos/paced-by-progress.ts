// Disturbances that wait for the work: each comes when runs have come to rest since the one before, so that none meets an engine
// that has done nothing in between.

import type { Disturber, Done, Surroundings } from './disturber.ts';
import { FailPointDrill } from './fail-point-drill.ts';
import { type Disturbance, drawPlan, type Plan, printPlan } from './plan.ts';
import type { Progress } from './progress.ts';
import type { Role } from './supervised-process.ts';
import type { Target } from './target.ts';

/** How long a fail point that is armed last is waited for before more items come. */
const beatMs = 1_000;
/**
 * How far items and disturbances may be apart, in shares of a disturbance. The client is not so much ahead that the last items are
 * left alone, the disturbances not so much that they meet an engine without work.
 */
const ahead = { client: 3, disturbances: 3 };

/** Shares for fail points that need an engine to be killed once more, and for the quiet end. */
const spareShares = 6;

export interface PacedByProgressOptions extends Surroundings {
  readonly items: number;
  readonly kills: number;
  readonly seed: number;
  readonly target: Pick<Target, 'victims'>;
  readonly progress: Progress;
  readonly pauseMs: number;
}

export class PacedByProgress implements Disturber {
  readonly plan: string;
  readonly #options: PacedByProgressOptions;
  readonly #plan: Plan;
  readonly #drill: FailPointDrill;
  readonly #kills: Partial<Record<Role, number>> = {};
  #pauses = 0;
  #disturbed = 0;
  /** Nothing more is done to the processes. */
  #isCalm = false;

  constructor(options: PacedByProgressOptions) {
    const { seed, kills, target } = options;
    this.#options = options;
    this.#plan = drawPlan(
      seed,
      kills,
      target.victims.map(({ role }) => role),
    );
    this.#drill = new FailPointDrill(this.#plan.failPoints);
    this.plan = printPlan(
      this.#plan,
      target.victims.map(({ name }) => name),
    );
  }

  nextFailPoint(): string | undefined {
    return this.#drill.arm();
  }

  strike(what: string): boolean {
    return this.#drill.strike(what);
  }

  get done(): Done {
    return { kills: this.#kills, pauses: this.#pauses, failPoints: this.#drill.record, troubles: new Map() };
  }

  get missed(): readonly string[] {
    return [...this.#drill.record].flatMap(([place, { deaths, stops }]) => {
      return deaths + stops === 0 ? [`fail point ${place} was never reached`] : [];
    });
  }

  allowed(): number {
    if (this.#isCalm) return this.#options.items;
    return Math.ceil((this.#disturbed + this.#drill.struck + ahead.client) * this.#share);
  }

  async disturb(): Promise<void> {
    const pauses: Promise<void>[] = [];
    for (const disturbance of this.#plan.disturbances) {
      await this.#between(disturbance.afterMs);
      if (disturbance.kind === 'kill') await this.#kill(disturbance);
      else pauses.push(this.#pause(disturbance));
      this.#disturbed++;
    }
    await Promise.all(pauses);
    await this.#finishDrill();
    this.#isCalm = true;
  }

  /** Items for each disturbance. */
  get #share(): number {
    const { disturbances, failPoints } = this.#plan;
    return this.#options.items / (disturbances.length + failPoints.length + spareShares);
  }

  /** The fail points that are left: engines are killed until all were armed and have struck, or the work is over. */
  async #finishDrill(): Promise<void> {
    const victim = this.#options.target.victims.findIndex(({ role }) => role === 'engine');
    for (; !this.#drill.isOver && this.allowed() < this.#options.items; this.#disturbed++) {
      await this.#between(beatMs);
      if (!this.#drill.isArmed && !this.#drill.isOver) await this.#kill({ victim });
    }
  }

  /** A commit was accepted since the last disturbance, its items have come to rest, and time has passed. */
  async #between(leastMs: number): Promise<void> {
    const { progress, pass } = this.#options;
    const worked = (this.#disturbed + this.#drill.struck - ahead.disturbances) * this.#share;
    await Promise.all([progress.untilCommit(), progress.untilAtRest(worked), pass(leastMs)]);
  }

  async #kill({ victim }: Pick<Disturbance, 'victim'>): Promise<void> {
    const killed = this.#options.target.victims[victim];
    if (!killed) throw new Error(`there is no process ${victim}`);
    // One that ends by itself at that very moment was not killed: again.
    while (!(await killed.kill())) await this.#between(0);
    this.#kills[killed.role] = (this.#kills[killed.role] ?? 0) + 1;
    this.#options.trace(`killed ${killed.name}`);
  }

  async #pause({ victim }: Disturbance): Promise<void> {
    const paused = this.#options.target.victims[victim];
    this.#pauses++;
    this.#options.trace(`paused ${paused?.name}`);
    await paused?.pause(this.#options.pauseMs);
  }
}
