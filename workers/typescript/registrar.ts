// Keeps a module registered: at one of its engines, and at another one when that has gone.
//
// Owns the leases, and the pause before the next one.
// 1. There is a newest lease or a pause, until `drain`. Older leases are those of engines that are about to stop; they end as soon as the
//    newest is registered, so that the module is known all the time.
// 2. Every attempt that fails makes the next pause longer, and goes to the next engine. An engine that refuses is asked rarely.
// 3. After `drain` no lease is begun, after `end` none is left.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RegistrationSchema } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { Lease, type LeaseEnd } from './lease.ts';

export interface RegistrarTimes {
  /**
   * Milliseconds before the next engine is tried: at most the first, doubled with each failure up to the longest; a random part of it, from a
   * quarter on, so that modules that lose one engine don't run to the next one together.
   */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Milliseconds, in the same way, after a refusal: only a person can change something. */
  readonly refusedPauseMs: number;
  /** Milliseconds that an engine gets to answer a registration: it tells all others first. */
  readonly openMs: number;
  /** Milliseconds that an engine gets to take the module away before its calls are let out: within the usual grace. */
  readonly drainMs: number;
}

const registrarTimes: RegistrarTimes = {
  firstPauseMs: 250,
  longestPauseMs: 5_000,
  refusedPauseMs: 30_000,
  openMs: 10_000,
  drainMs: 2_000,
};

export interface RegistrarOptions {
  readonly engines: readonly string[];
  readonly registration: MessageInitShape<typeof RegistrationSchema>;
  readonly onProblem: (message: string) => void;
  readonly times?: Partial<RegistrarTimes>;
}

export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #times: RegistrarTimes;
  readonly #leases = new Set<Lease>();
  #newest: Lease | undefined;
  #next: number;
  #failures = 0;
  #pause: NodeJS.Timeout | undefined;
  #isDraining = false;
  #told = '';

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.#times = { ...registrarTimes, ...options.times };
    // Modules that start together spread over the engines.
    this.#next = Math.floor(Math.random() * options.engines.length);
  }

  start(): void {
    this.#begin();
  }

  /** Asks for no new calls. Settles when engines are being told, or after `drainMs`. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    clearTimeout(this.#pause);
    const drained: Promise<void>[] = [];
    for (const lease of [...this.#leases]) {
      if (lease.isRegistered) drained.push(lease.drain());
      else this.#drop(lease);
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.#times.drainMs)));
    await Promise.race([Promise.all(drained), late]);
    clearTimeout(timer);
  }

  end(): void {
    this.#isDraining = true;
    clearTimeout(this.#pause);
    for (const lease of [...this.#leases]) this.#drop(lease);
  }

  #begin(): void {
    const { engines, registration } = this.#options;
    const engine = engines[this.#next++ % engines.length];
    if (engine === undefined) throw new Error('there is no engine to register at');
    const lease = new Lease({
      ...{ engine, registration, openMs: this.#times.openMs },
      registered: (registered) => this.#registered(registered),
      stopping: (stopping) => this.#stopping(stopping),
      ended: (ended, why) => this.#ended(ended, why),
    });
    this.#leases.add(lease);
    this.#newest = lease;
  }

  #registered(lease: Lease): void {
    if (lease !== this.#newest) return this.#drop(lease);
    this.#failures = 0;
    this.#told = '';
    for (const older of [...this.#leases]) if (older !== lease) this.#drop(older);
  }

  #stopping(lease: Lease): void {
    if (lease !== this.#newest || this.#isDraining) return;
    if (this.#options.engines.length > 1) return this.#begin();
    // There is nowhere else to go; the engine needn't wait for this stream.
    this.#drop(lease);
    this.#beginLater(this.#pauseMs('lost'));
  }

  #ended(lease: Lease, why: LeaseEnd): void {
    this.#leases.delete(lease);
    if (lease !== this.#newest) return;
    this.#newest = undefined;
    if (this.#isDraining) return;
    this.#tell(`engine ${lease.engine}: ${why.message}`);
    this.#failures++;
    this.#beginLater(this.#pauseMs(why.kind));
  }

  #pauseMs(kind: LeaseEnd['kind']): number {
    const { firstPauseMs, longestPauseMs, refusedPauseMs } = this.#times;
    // Two processes that claim one address would take it from each other without end.
    if (kind === 'superseded') return refusedPauseMs;
    // Each engine is tried once before the pauses grow.
    const rounds = this.#failures - this.#options.engines.length;
    if (kind === 'refused' && rounds >= 0) return refusedPauseMs;
    return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(16, Math.max(0, rounds)));
  }

  #beginLater(pauseMs: number): void {
    this.#pause = setTimeout(() => this.#begin(), pauseMs * (0.25 + 0.75 * Math.random()));
  }

  #drop(lease: Lease): void {
    this.#leases.delete(lease);
    if (lease === this.#newest) this.#newest = undefined;
    lease.end();
  }

  #tell(problem: string): void {
    if (problem === this.#told) return;
    this.#told = problem;
    this.#options.onProblem(problem);
  }
}
