// Disturbances that don't wait: one each second for as long as it was said, whatever the engine is able to do meanwhile.

import { Random } from '../../sim/world/random.ts';
import type { Disturber, Done, Surroundings } from './disturber.ts';
import type { Role } from './supervised-process.ts';
import type { Target, Trouble, Victim } from './target.ts';

const everyMs = 1_000;
/** Of the disturbances, those that strike a process; the others strike services and links. */
const ofProcesses = 0.5;
/** Of those, pauses: most as long as a lock lives twice, some longer than a session. */
const pausedBriefly = 0.15;
const pausedLong = 0.06;
/** Spouts die seldom beside the others: a death costs nothing but the time until another takes over. */
const weights: Readonly<Record<Role, number>> = { engine: 1, dispatch: 3, spout: 2, module: 4 };
/** Items that may be under way beyond the share of the time that has passed. */
const aheadItems = 200;
/** All processes are restarted one by one at these shares of the time, as an operator would for an upgrade. */
const rollingRestartsAt = [0.3, 0.7];

export interface PacedByClockOptions extends Surroundings {
  readonly items: number;
  readonly seconds: number;
  readonly seed: number;
  readonly target: Pick<Target, 'victims' | 'troubles'>;
  readonly pauseMs: number;
  /** Longer than a session lives. */
  readonly longPauseMs: number;
}

export class PacedByClock implements Disturber {
  readonly plan: string;
  readonly #options: PacedByClockOptions;
  readonly #random: Random;
  readonly #kills: Partial<Record<Role, number>> = {};
  readonly #troubles = new Map<string, number>();
  /** What is being done, by the name of whom it is done to: one thing at a time each. */
  readonly #busy = new Map<string, Promise<void>>();
  #bag: Trouble[] = [];
  #pauses = 0;
  #passed = 0;
  #isCalm = false;

  constructor(options: PacedByClockOptions) {
    const { seed, seconds, target } = options;
    this.#options = options;
    this.#random = new Random(seed, 'disturbances');
    const names = [...target.victims, ...target.troubles].map(({ name }) => name);
    this.plan = `seed ${seed}\nplan: a disturbance each second for ${seconds} s among ${names.join(', ')}`;
  }

  nextFailPoint(): undefined {
    return undefined;
  }

  strike(): boolean {
    return false;
  }

  get done(): Done {
    return { kills: this.#kills, pauses: this.#pauses, failPoints: new Map(), troubles: this.#troubles };
  }

  get missed(): readonly string[] {
    const { victims, troubles } = this.#options.target;
    const roles = [...new Set(victims.map(({ role }) => role))].filter((role) => !this.#kills[role]);
    const names = troubles.map(({ name }) => name).filter((name) => !this.#troubles.has(name));
    return [...roles, ...names].map((name) => `${name} was never disturbed`);
  }

  allowed(): number {
    const { items, seconds } = this.#options;
    return this.#isCalm ? items : Math.min(items, Math.ceil((items * this.#passed) / seconds) + aheadItems);
  }

  async disturb(): Promise<void> {
    const { seconds, pass } = this.#options;
    const restartAt = new Set(rollingRestartsAt.map((share) => Math.floor(share * seconds)));
    let restarting: Promise<void> = Promise.resolve();
    for (; this.#passed < seconds; this.#passed++) {
      if (restartAt.has(this.#passed)) restarting = this.#restartAll();
      this.#disturbOnce();
      await pass(everyMs);
    }
    await Promise.all([restarting, ...this.#busy.values()]);
    this.#isCalm = true;
  }

  #disturbOnce(): void {
    const { target, pauseMs, longPauseMs } = this.#options;
    if (target.troubles.length > 0 && !this.#random.chance(ofProcesses)) {
      const trouble = this.#nextTrouble();
      return this.#begin(trouble.name, () => this.#strike(trouble));
    }
    const victim = this.#random.pick(target.victims.flatMap((each) => repeated(each, weights[each.role])));
    if (this.#random.chance(pausedLong)) return this.#begin(victim.name, () => this.#pause(victim, longPauseMs));
    if (this.#random.chance(pausedBriefly)) return this.#begin(victim.name, () => this.#pause(victim, pauseMs));
    this.#begin(victim.name, () => this.#kill(victim));
  }

  /** Drawn from a bag in which each is as often as its weight says, filled again when empty: so that none stays away by chance. */
  #nextTrouble(): Trouble {
    if (this.#bag.length === 0)
      this.#bag = this.#options.target.troubles.flatMap((each) => repeated(each, each.weight));
    const [trouble] = this.#bag.splice(this.#random.between(0, this.#bag.length - 1), 1);
    if (!trouble) throw new Error('there is no trouble');
    return trouble;
  }

  /** Somebody to whom something is being done is left alone. */
  #begin(name: string, action: () => Promise<void>): void {
    if (this.#busy.has(name)) return;
    this.#busy.set(
      name,
      action().finally(() => this.#busy.delete(name)),
    );
  }

  async #kill(victim: Victim): Promise<void> {
    if (!(await victim.kill())) return;
    this.#kills[victim.role] = (this.#kills[victim.role] ?? 0) + 1;
    this.#options.trace(`killed ${victim.name}`);
  }

  async #pause(victim: Victim, durationMs: number): Promise<void> {
    this.#pauses++;
    this.#options.trace(`paused ${victim.name} for ${durationMs} ms`);
    await victim.pause(durationMs);
  }

  async #strike(trouble: Trouble): Promise<void> {
    this.#troubles.set(trouble.name, (this.#troubles.get(trouble.name) ?? 0) + 1);
    this.#options.trace(trouble.name);
    await trouble.strike();
    this.#options.trace(`${trouble.name} is over`);
  }

  async #restartAll(): Promise<void> {
    const name = 'restart of all roles';
    this.#troubles.set(name, (this.#troubles.get(name) ?? 0) + 1);
    for (const victim of this.#options.target.victims) {
      if (victim.role === 'module') continue;
      await this.#busy.get(victim.name);
      this.#options.trace(`restarting ${victim.name}`);
      const restarting = victim.restart().finally(() => this.#busy.delete(victim.name));
      this.#busy.set(victim.name, restarting);
      await restarting;
    }
  }
}

function repeated<Item>(item: Item, times: number): Item[] {
  return Array.from({ length: times }, () => item);
}
