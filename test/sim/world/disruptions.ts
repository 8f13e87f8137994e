// Faults that come by themselves: processes die or leave, ways are cut, services are out, clocks are set, locks are forgotten.

import { clients, theLocks, theStore } from './cuts.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { ModuleProcess } from './module-process.ts';
import { keepaliveMs, type SimulatedProcess, type Surroundings } from './process.ts';

/** Longest time that a process stays down, in ms: longer than a session, so that others see it go. */
const maxDownMs = 20_000;
/** Longest time that a process stands still, in ms: longer than a session, the grace after it, a lock and a lease. */
const maxPauseMs = 45_000;
/** Longest time that a way is cut, in ms: longer than a connection survives. */
const maxCutMs = 30_000;
/** Longest time that the store answers nobody, in ms: shorter than a write is repeated, and longer. */
const maxOutageMs = 90_000;
/** Longest time that a module's process is down, stands still, or doesn't serve, in ms. */
const maxModuleMs = 15_000;
/** By how much a clock that is set wrong is set, in ms. */
export const clockJumpMs = 3_600_000;
/** Longest time that a clock goes wrong before somebody sets it right, in ms. */
const maxWrongMs = 60_000;

export class Disruptions {
  readonly #world: Surroundings;

  constructor(world: Surroundings) {
    this.#world = world;
  }

  begin(): void {
    const strikes: Partial<Record<FaultKind, () => void>> = {
      crash: () => this.#crash(),
      'restart at once': () => this.#restartAtOnce(),
      pause: () => this.#pause(),
      drain: () => this.#drain(),
      'clock jump': () => this.#setClock(),
      'closed link': () => this.#closeLink(),
      'locks flushed': () => this.#all('locks flushed', () => this.#world.locks.flush()),
      'store outage': () => this.#storeOutage(),
      'session expired': () => this.#expire(),
      'all members lost': () => this.#all('all members lost', () => this.#world.membership.loseAll()),
      'cut between processes': () => this.#cutProcesses(),
      'cut to the store': () => this.#cut('cut to the store', (process) => [process, theStore]),
      'cut from the store': () => this.#cut('cut from the store', (process) => [theStore, process]),
      'cut to the locks': () => this.#cut('cut to the locks', (process) => [process, theLocks]),
      'cut from clients': () => this.#cut('cut from clients', (process) => [clients, process]),
      'cut to a module': () => this.#cutModule(),
      'module crash': () => this.#strikeModule('module crash', (process, ms) => process.crash(ms)),
      'module pause': () => this.#strikeModule('module pause', (process, ms) => process.pause(ms)),
      'module not serving': () =>
        this.#strikeModule('module not serving', (process, ms) => this.#stopServing(process, ms)),
      'flow release': () => this.#world.faults.record('flow release', this.#world.flows.releaseAny()),
    };
    if (this.#world.processes.length === 1) delete strikes['cut between processes'];
    for (const [kind, strike] of Object.entries(strikes)) this.#repeat(kind as FaultKind, strike);
  }

  /** Everything that was done here is undone. Processes that are down start. */
  heal(): void {
    const { faults, cuts, store, membership, modules, flows, processes } = this.#world;
    faults.heal();
    cuts.heal();
    store.heal();
    membership.heal();
    flows.heal();
    for (const process of modules.processes) {
      process.start();
      process.serve(true);
    }
    for (const process of processes) process.heal();
  }

  #repeat(kind: FaultKind, strike: () => void): void {
    const { time, faults } = this.#world;
    const nextMs = faults.intervalMs(kind);
    if (nextMs === undefined) return;
    time.after(nextMs, () => {
      if (faults.healed) return;
      strike();
      this.#repeat(kind, strike);
    });
  }

  #all(kind: FaultKind, strike: () => void): void {
    this.#world.faults.record(kind, 'all');
    strike();
  }

  #crash(): void {
    const process = this.#anyRunning();
    if (!process) return;
    this.#world.faults.record('crash', process.name);
    process.crash();
    this.#restartLater(process);
  }

  /** Its last start is listed still, and what that has sent is on its way. */
  #restartAtOnce(): void {
    const process = this.#anyRunning();
    if (!process) return;
    this.#world.faults.record('restart at once', process.name);
    process.crash();
    process.start();
  }

  #pause(): void {
    const process = this.#anyRunning();
    if (!process || process.isOccupied) return;
    this.#world.faults.record('pause', process.name);
    const { scheduling } = this.#world;
    process.pause(scheduling.between(100, scheduling.chance(0.5) ? 2_000 : maxPauseMs));
  }

  #drain(): void {
    // Mostly who has most to hand back.
    const process = this.#world.scheduling.chance(0.7) ? this.#busiest() : this.#anyRunning();
    if (!process || process.isOccupied) return;
    const { faults, modules, dispatchSettings } = this.#world;
    faults.record('drain', process.name);
    if (faults.strikes('long drain', process.name)) {
      // No call ends while it waits for those that are out.
      const { drainMs = 0 } = dispatchSettings;
      for (const module of modules.processes) module.pause(drainMs + 1_000);
    }
    process.stop(() => this.#restartLater(process));
  }

  #setClock(): void {
    const { processes, scheduling, faults, time } = this.#world;
    const process = scheduling.pick(processes);
    const byMs = scheduling.chance(0.5) ? clockJumpMs : -clockJumpMs;
    faults.record('clock jump', `${process.name} by ${byMs / 1_000} s`);
    process.setClock(byMs);
    if (scheduling.chance(0.7)) time.after(scheduling.between(1, maxWrongMs), () => process.setClock(0));
  }

  #closeLink(): void {
    const { processes, scheduling, faults } = this.#world;
    const links = processes.flatMap(({ current }) => [...(current?.links ?? [])]).filter(([, made]) => made.open);
    if (links.length === 0) return;
    const [name, made] = scheduling.pick(links);
    faults.record('closed link', name);
    made.sever();
  }

  #storeOutage(): void {
    const { scheduling, faults, store } = this.#world;
    const durationMs = scheduling.between(500, scheduling.chance(0.8) ? 10_000 : maxOutageMs);
    faults.record('store outage', `for ${durationMs} ms`);
    store.goOut(durationMs);
  }

  #expire(): void {
    const process = this.#anyRunning();
    if (!process) return;
    this.#world.faults.record('session expired', process.name);
    process.loseSession();
  }

  #cutProcesses(): void {
    const { processes, scheduling, faults, cuts, time } = this.#world;
    const from = scheduling.pick(processes);
    const to = scheduling.pick(processes.filter((process) => process !== from));
    const durationMs = this.#cutMs();
    faults.record('cut between processes', `${from.name}→${to.name} for ${durationMs} ms`);
    cuts.cut(from.name, to.name, durationMs);
    if (durationMs > keepaliveMs) time.after(keepaliveMs, () => from.severLinksTo(to));
  }

  #cut(kind: FaultKind, way: (process: string) => readonly [string, string]): void {
    const { processes, scheduling, faults, cuts } = this.#world;
    const [from, to] = way(scheduling.pick(processes).name);
    const durationMs = this.#cutMs();
    faults.record(kind, `${from}→${to} for ${durationMs} ms`);
    cuts.cut(from, to, durationMs);
  }

  #cutModule(): void {
    const { modules, scheduling } = this.#world;
    if (modules.processes.length === 0) return;
    const { address } = scheduling.pick(modules.processes);
    this.#cut('cut to a module', (process) => [process, address]);
  }

  #strikeModule(
    kind: 'module crash' | 'module pause' | 'module not serving',
    strike: (process: ModuleProcess, durationMs: number) => void,
  ): void {
    const { modules, scheduling, faults } = this.#world;
    if (modules.processes.length === 0) return;
    const process = scheduling.pick(modules.processes);
    const durationMs = scheduling.between(50, scheduling.chance(0.5) ? 1_000 : maxModuleMs);
    faults.record(kind, `${process.address} for ${durationMs} ms`);
    strike(process, durationMs);
  }

  #stopServing(process: ModuleProcess, durationMs: number): void {
    process.serve(false);
    this.#world.time.after(durationMs, () => process.serve(true));
  }

  #cutMs(): number {
    const { scheduling } = this.#world;
    return scheduling.between(100, scheduling.chance(0.6) ? 5_000 : maxCutMs);
  }

  #restartLater(process: SimulatedProcess): void {
    const { time, scheduling } = this.#world;
    time.after(scheduling.between(50, scheduling.chance(0.5) ? 1_000 : maxDownMs), () => process.start());
  }

  #busiest(): SimulatedProcess | undefined {
    const held = (process: SimulatedProcess) => process.current?.dispatch?.held ?? -1;
    return this.#world.processes.toSorted((one, other) => held(other) - held(one)).find(({ current }) => current);
  }

  #anyRunning(): SimulatedProcess | undefined {
    const running = this.#world.processes.filter(({ current }) => current !== undefined);
    return running.length > 0 ? this.#world.scheduling.pick(running) : undefined;
  }
}
