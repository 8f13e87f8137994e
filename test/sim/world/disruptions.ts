// Faults that come by themselves: processes die or leave, links break, locks are forgotten.

import type { Role } from '../../../platform/coordination/membership.ts';
import { SimulatedProcess, type Surroundings } from './process.ts';
import type { Random } from './random.ts';

/** Longest time that a process stays down, in ms: longer than a session, so that others see it go. */
const maxDownMs = 20_000;
/** Longest time that a process stands still, in ms: longer than a session, the grace after it, a lock and a lease. */
const maxPauseMs = 45_000;

export class Disruptions {
  readonly #world: Surroundings;

  constructor(world: Surroundings) {
    this.#world = world;
  }

  begin(): void {
    this.#repeat('crash', () => this.#crash());
    this.#repeat('pause', () => this.#pause());
    this.#repeat('drain', () => this.#drain());
    this.#repeat('closed link', () => this.#closeLink());
    this.#repeat('locks flushed', () => {
      this.#world.faults.record('locks flushed', 'all');
      this.#world.locks.flush();
    });
  }

  #repeat(kind: Parameters<Surroundings['faults']['intervalMs']>[0], strike: () => void): void {
    const { time, faults } = this.#world;
    const nextMs = faults.intervalMs(kind);
    if (nextMs === undefined) return;
    time.after(nextMs, () => {
      if (faults.healed) return;
      strike();
      this.#repeat(kind, strike);
    });
  }

  #crash(): void {
    const process = this.#anyRunning();
    if (!process) return;
    this.#world.faults.record('crash', process.name);
    process.crash();
    this.#restartLater(process);
  }

  #pause(): void {
    const process = this.#anyRunning();
    if (!process || process.isOccupied) return;
    this.#world.faults.record('pause', process.name);
    const { scheduling } = this.#world;
    process.pause(scheduling.between(100, scheduling.chance(0.5) ? 2_000 : maxPauseMs));
  }

  #drain(): void {
    const process = this.#anyRunning();
    if (!process || process.isOccupied) return;
    this.#world.faults.record('drain', process.name);
    process.stop(() => this.#restartLater(process));
  }

  #closeLink(): void {
    const { processes, scheduling, faults } = this.#world;
    const links = processes.flatMap(({ current }) => [...(current?.links ?? [])]).filter(([, made]) => made.open);
    if (links.length === 0) return;
    const [name, made] = scheduling.pick(links);
    faults.record('closed link', name);
    made.sever();
  }

  #restartLater(process: SimulatedProcess): void {
    const { time, scheduling } = this.#world;
    time.after(scheduling.between(50, scheduling.chance(0.5) ? 1_000 : maxDownMs), () => process.start());
  }

  #anyRunning(): SimulatedProcess | undefined {
    const running = this.#world.processes.filter(({ current }) => current !== undefined);
    return running.length > 0 ? this.#world.scheduling.pick(running) : undefined;
  }
}

/** One to four dispatches and one to three spouts, apart or together. */
export function topology(world: Surroundings, random: Random): SimulatedProcess[] {
  const dispatches = random.between(1, 4);
  const spouts = random.between(1, 3);
  const together = random.chance(0.5) ? Math.min(dispatches, spouts) : 0;
  const make = (name: string, roles: readonly Role[]) =>
    new SimulatedProcess(world, name, roles, random.between(-200, 200));
  return [
    ...Array.from({ length: together }, (_, index) => make(`b${index + 1}`, ['dispatch', 'spout'])),
    ...Array.from({ length: dispatches - together }, (_, index) => make(`d${index + 1}`, ['dispatch'])),
    ...Array.from({ length: spouts - together }, (_, index) => make(`s${index + 1}`, ['spout'])),
  ];
}
