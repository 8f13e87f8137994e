// Whoever looks after runs that other runs have started: nobody submitted them, and somebody must let them go on when they are parked.
// Now and then it retries or rewinds one that has failed, by itself, or says a signal to one.
//
// Owns how often each was retried.

import type { Control, RunId } from '../../../flow/run.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { FlowVersions } from '../world/flow-versions.ts';
import type { Random } from '../world/random.ts';
import type { SimulatedStore } from '../world/store.ts';
import type { Client } from './client.ts';
import { type ClientEvent, signalFor } from './items.ts';
import { goOnFrom } from './reopening.ts';

export interface CaretakerWorld {
  readonly store: SimulatedStore;
  readonly flows: FlowVersions;
  readonly client: Client;
  readonly random: Random;
}

/** Longest time until it acts, in ms. */
const maxSoonMs = 5_000;
/** How late it is at times with a parked run, in ms: its parent has looked at it by then. */
const lateMs = 70_000;
/** How often one run is retried by itself. */
const maxRetries = 2;

export class Caretaker {
  readonly #world: CaretakerWorld;
  readonly #known = new Set<RunId>();
  readonly #retries = new Map<RunId, number>();

  constructor(world: CaretakerWorld) {
    this.#world = world;
  }

  begin(): void {
    this.#world.store.onControl = (run, control) => this.#changed(run, control);
  }

  #changed(run: RunId, control: Control): void {
    if (!control.parent) return;
    const { random } = this.#world;
    if (!this.#known.has(run)) {
      this.#known.add(run);
      if (random.chance(0.3)) this.#post(run, maxSoonMs, signalFor(random));
    }
    const { state } = control.status;
    if (state === State.PARKED) this.#parked(run);
    if (state === State.FAILED || state === State.CANCELLED) this.#ended(run, control);
  }

  #parked(run: RunId): void {
    const { random } = this.#world;
    const isLate = random.chance(0.2);
    const kind: ClientEvent = random.chance(0.8)
      ? { case: 'release', value: {} }
      : { case: 'cancel', value: { cause: 'it is no good' } };
    this.#post(run, isLate ? lateMs : maxSoonMs, kind);
  }

  #ended(run: RunId, control: Control): void {
    const { random, flows } = this.#world;
    const retries = this.#retries.get(run) ?? 0;
    if (retries >= maxRetries || !random.chance(0.3)) return;
    this.#retries.set(run, retries + 1);
    this.#post(run, maxSoonMs, goOnFrom(random, flows, control));
  }

  #post(run: RunId, mostMs: number, kind: ClientEvent): void {
    const { client, random } = this.#world;
    client.later(random.between(0, mostMs), (over) => client.post(run, kind, over));
  }
}
