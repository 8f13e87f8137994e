// Somebody who puts events into inboxes at bad moments: while a write of the run is under way, twice, or for a run that isn't there.
//
// Owns nothing. Nobody waits for what comes of it.

import { create } from '@bufbuild/protobuf';
import type { RunId } from '../../../flow/run.ts';
import { runId, runParts } from '../../../flow/run-id.ts';
import { type InboxEvent, InboxEventSchema } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Faults } from '../world/faults.ts';
import type { FlowVersions } from '../world/flow-versions.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { Random } from '../world/random.ts';
import type { SimulatedStore } from '../world/store.ts';
import type { VirtualTime } from '../world/time.ts';
import { type ClientEvent, signalFor } from './items.ts';
import { goOnFrom } from './reopening.ts';

export interface MeddlerWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly store: SimulatedStore;
  readonly flows: FlowVersions;
  readonly random: Random;
  readonly processes: readonly SimulatedProcess[];
}

/** Longest time until an event comes that is to meet a write, in ms: about as long as a write takes. */
const maxAmidMs = 12;
/** Longest time until an event comes again, in ms. */
const maxCopyMs = 5_000;

export class Meddler {
  readonly #world: MeddlerWorld;
  #events = 0;

  constructor(world: MeddlerWorld) {
    this.#world = world;
  }

  begin(): void {
    this.#world.store.onSent = (run, process) => this.#sent(run, process);
  }

  #sent(run: RunId, process: string): void {
    const { faults } = this.#world;
    if (faults.strikes('event amid a write', run)) this.#post(run, process);
    if (faults.strikes('event for an absent run', run)) this.#post(absent(run), process);
  }

  #post(run: RunId, process: string): void {
    for (const kind of this.#madeUpEvents(run)) this.#postOne(run, process, kind);
  }

  #postOne(run: RunId, process: string, kind: ClientEvent): void {
    const { time, faults, random } = this.#world;
    const id = `meddler-${++this.#events}-${kind.case ?? ''}`;
    const event = create(InboxEventSchema, { id, arrivedMs: BigInt(time.wallMs), kind });
    const afterMs = random.between(0, maxAmidMs);
    this.#arrive(run, event, process, afterMs);
    if (faults.strikes('duplicated event', id))
      this.#arrive(run, event, process, afterMs + random.between(0, maxCopyMs));
  }

  /** By the process that writes, which looks into the inbox at once, or past all of them. */
  #arrive(run: RunId, event: InboxEvent, process: string, afterMs: number): void {
    const { time, random, store, processes } = this.#world;
    const writer = random.chance(0.5) ? processes.find(({ name }) => name === process)?.current : undefined;
    if (writer?.dispatch) writer.clock.after(afterMs, () => void writer.dispatch?.post(run, event));
    else time.after(afterMs, () => void store.post('meddler', run, event));
  }

  #madeUpEvents(run: RunId): ClientEvent[] {
    const { random, store } = this.#world;
    const control = store.control(run);
    const present = control?.status.outcomeNumber ?? 0;
    const cancel: ClientEvent = { case: 'cancel', value: { cause: 'somebody meddled' } };
    // Begun again at once: answers to the calls of the round before are on their way.
    if (random.chance(0.5)) return [cancel, { case: 'retry', value: { outcomeNumber: present + 1 } }];
    const outcomeNumber = Math.max(0, present + random.between(-1, 1));
    const event = random.pick<ClientEvent>([
      { case: 'level', value: { level: random.between(0, 10) } },
      { case: 'level', value: { level: random.between(1, 9) } },
      { case: 'retry', value: { outcomeNumber } },
      { case: 'release', value: {} },
      signalFor(random),
      cancel,
      ...(control ? [goOnFrom(random, this.#world.flows, control)] : []),
    ]);
    return [event];
  }
}

function absent(run: RunId): RunId {
  return runId({ ...runParts(run), itemKey: Buffer.from('absent') });
}
