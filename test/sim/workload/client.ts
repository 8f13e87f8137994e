// Clients: they submit items until somebody acknowledges them, and now and then cancel, retry or release a run. They die never.
//
// Owns what was acknowledged (in the history) and what is still under way.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Dispatch } from '../../../dispatch/dispatch.ts';
import type { CheckedItem } from '../../../dispatch/driver/submission.ts';
import type { RunId, Status } from '../../../flow/run.ts';
import { runId } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { InboxEventSchema, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Faults } from '../world/faults.ts';
import type { ClientHappening, History } from '../world/history.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { Random } from '../world/random.ts';
import type { VirtualTime } from '../world/time.ts';

export interface PlannedItem {
  readonly item: CheckedItem;
  readonly submitAtMs: number;
  /** What its owner asks for, some time after it was acknowledged. */
  readonly wish?: { readonly afterMs: number; readonly kind: ClientEvent };
  /** How often its owner tries a failed or cancelled run again. */
  readonly retries: number;
  /** Whether its owner lets it go on when it is parked. */
  readonly releases: boolean;
}

export interface ClientWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly history: History;
  readonly random: Random;
  readonly processes: readonly SimulatedProcess[];
  /** What a look at the run shows; undefined when it isn't there. */
  readonly status: (run: RunId) => Status | undefined;
}

type ClientEvent = Exclude<MessageInitShape<typeof InboxEventSchema>['kind'], undefined>;

/** How long a client waits for an answer before it asks another dispatch, in ms. */
const patienceMs = 10_000;
/** How often the owner of an item looks at its run, in ms. */
const lookEveryMs = 1_500;

export class Client {
  readonly #world: ClientWorld;
  #underWay = 0;
  #events = 0;

  constructor(world: ClientWorld) {
    this.#world = world;
  }

  /** Nothing more will be asked. */
  get isDone(): boolean {
    return this.#underWay === 0;
  }

  begin(items: readonly PlannedItem[]): void {
    for (const planned of items) {
      this.#underWay++;
      this.#world.time.after(planned.submitAtMs, () => this.#submit(planned));
    }
  }

  #submit(planned: PlannedItem): void {
    const { item } = planned;
    const run = runId({ business: item.business, flow: item.flow, itemKey: item.key, generation: 1 });
    this.#tell('submitted', run, '');
    this.#ask(
      (dispatch) => dispatch.submit(item),
      (submitted) => {
        if (submitted?.kind === 'accepted') return this.#acknowledged(planned, submitted.run);
        if (submitted && submitted.why !== 'unavailable') {
          this.#tell('refused', run, `${submitted.why}: ${submitted.message}`);
          this.#underWay--;
          return;
        }
        this.#world.time.after(this.#world.random.between(100, 2_000), () => this.#submit(planned));
      },
    );
  }

  #acknowledged(planned: PlannedItem, run: RunId): void {
    this.#tell('acknowledged', run, '');
    const { wish } = planned;
    if (wish) {
      this.#underWay++;
      this.#world.time.after(wish.afterMs, () => this.#post(run, wish.kind, () => this.#underWay--));
    }
    this.#look(planned, run, planned.retries);
  }

  /** Looks after a run until nothing is left to be done about it. */
  #look(planned: PlannedItem, run: RunId, retries: number): void {
    const again = (retriesLeft: number) => {
      this.#world.time.after(lookEveryMs, () => this.#look(planned, run, retriesLeft));
    };
    const status = this.#world.status(run);
    if (status?.state === State.PARKED && planned.releases) {
      return this.#post(run, { case: 'release', value: {} }, () => again(retries));
    }
    const isAtRest = status && (isTerminal(status.state) || status.state === State.PARKED);
    if (!status || !isAtRest) return again(retries);
    if (retries === 0 || status.state === State.SUCCEEDED || status.state === State.PARKED) {
      this.#underWay--;
      return;
    }
    // A request may name an outcome that is past: it must change nothing.
    const outcomeNumber = this.#world.random.chance(0.1) ? status.outcomeNumber - 1 : status.outcomeNumber;
    this.#post(run, { case: 'retry', value: { outcomeNumber } }, () => again(retries - 1));
  }

  /** Puts an event into a run's inbox, as often as it takes. */
  #post(run: RunId, kind: ClientEvent, posted: () => void): void {
    const { time, history } = this.#world;
    const id = `client-${++this.#events}-${kind.case ?? ''}`;
    const event = create(InboxEventSchema, { id, arrivedMs: BigInt(Date.UTC(2026, 0, 1) + time.elapsedMs), kind });
    const attempt = () => {
      this.#ask(
        (dispatch) => dispatch.post(run, event),
        (result) => {
          if (result?.kind === 'done' || result?.kind === 'duplicate') {
            this.#tell('event acknowledged', run, id);
            return posted();
          }
          if (result?.kind === 'absent') history.add({ kind: 'client', what: 'event refused', run, detail: id });
          time.after(this.#world.random.between(100, 2_000), attempt);
        },
      );
    };
    attempt();
  }

  /** One question to one dispatch; `answered` hears undefined when no answer comes. */
  #ask<Result>(
    question: (dispatch: Dispatch) => Promise<Result>,
    answered: (result: Result | undefined) => void,
  ): void {
    const { time, random, faults, processes } = this.#world;
    let isOver = false;
    const finish = (result: Result | undefined) => {
      if (isOver) return;
      isOver = true;
      answered(result);
    };
    time.after(patienceMs, () => finish(undefined));
    const running = processes.flatMap(({ current }) => (current?.dispatch ? [current] : []));
    if (running.length === 0) return;
    const { name, clock, dispatch } = random.pick(running);
    clock.after(random.between(1, 20), () => {
      if (!dispatch) return;
      question(dispatch).then(
        (result) => {
          if (!clock.running || faults.strikes('lost submit reply', name)) return;
          time.after(random.between(1, 20), () => finish(result));
        },
        () => finish(undefined),
      );
    });
  }

  #tell(what: ClientHappening['what'], run: RunId, detail: string): void {
    this.#world.history.add({ kind: 'client', what, run, detail });
  }
}

/** 20 to 60 items, submitted over the first part of the time in which things go wrong. */
export function plannedItems(
  random: Random,
  flows: readonly string[],
  business: string,
  duringMs: number,
): PlannedItem[] {
  const count = random.between(20, 60);
  return Array.from({ length: count }, (_, index): PlannedItem => {
    const size = String(random.between(0, 9));
    return {
      item: {
        business,
        flow: random.pick(flows),
        key: Buffer.from(`item-${index + 1}`),
        level: random.between(1, 9),
        fields: new Map([['size', { bytes: Buffer.from(size) }]]),
      },
      submitAtMs: random.between(0, duringMs),
      ...(random.chance(0.2) && { wish: { afterMs: random.between(0, 20_000), kind: madeUpWish(random) } }),
      retries: random.pick([0, 1, 2]),
      releases: random.chance(0.8),
    };
  });
}

function madeUpWish(random: Random): ClientEvent {
  if (random.chance(0.3)) return { case: 'level', value: { level: random.between(1, 9) } };
  return { case: 'cancel', value: { cause: 'not wanted any more' } };
}
