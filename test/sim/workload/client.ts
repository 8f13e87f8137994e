// Clients: they submit items until somebody acknowledges them, and now and then submit one again, cancel, retry or release a run.
// They die never.
//
// Owns what was acknowledged (in the history) and what is still under way.

import { create } from '@bufbuild/protobuf';
import type { Dispatch } from '../../../dispatch/dispatch.ts';
import type { FlowItem, Submitted } from '../../../dispatch/driver/submission.ts';
import type { Control, RunId } from '../../../flow/run.ts';
import { runId, runParts } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { InboxEventSchema, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type Cuts, clients } from '../world/cuts.ts';
import type { Faults } from '../world/faults.ts';
import type { FlowVersions } from '../world/flow-versions.ts';
import type { ClientHappening, History, Submission } from '../world/history.ts';
import type { Incarnation, SimulatedProcess } from '../world/process.ts';
import type { Random } from '../world/random.ts';
import type { VirtualTime } from '../world/time.ts';
import type { ClientEvent, PlannedItem, Resubmission } from './items.ts';
import { goOnFrom } from './reopening.ts';

export interface ClientWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly history: History;
  readonly cuts: Cuts;
  readonly random: Random;
  readonly processes: readonly SimulatedProcess[];
  readonly flows: FlowVersions;
  /** What a look at the run shows; undefined when it isn't there. */
  readonly look: (run: RunId) => Control | undefined;
}

/** How long a client waits for an answer before it asks another dispatch, in ms. */
const patienceMs = 10_000;
/** How often the owner of an item looks at its run, in ms. */
const lookEveryMs = 1_500;
/** Longest time until what was sent once comes again, in ms. */
const maxCopyMs = 5_000;

export class Client {
  readonly #world: ClientWorld;
  #underWay = 0;
  #events = 0;
  #submissions = 0;

  constructor(world: ClientWorld) {
    this.#world = world;
  }

  /** Nothing more will be asked. */
  get isDone(): boolean {
    return this.#underWay === 0;
  }

  begin(items: readonly PlannedItem[]): void {
    for (const planned of items) {
      this.later(planned.submitAtMs, (over) =>
        this.#submit(planned.item, (run) => {
          if (run !== undefined) this.#acknowledged(planned, run);
          over();
        }),
      );
    }
  }

  /** Something is under way until it says that it is over. */
  later(afterMs: number, act: (over: () => void) => void): void {
    this.#underWay++;
    this.#world.time.after(afterMs, () => act(() => this.#underWay--));
  }

  /** Submits an item until it is acknowledged, or refused for good. `done` hears which run it got. */
  #submit(item: FlowItem, done: (run: RunId | undefined) => void): void {
    const { random, time } = this.#world;
    const expectedGeneration = item.expectedGeneration ?? 0;
    const { business, flow, key: itemKey } = item;
    const asked = runId({ business, flow, itemKey, generation: expectedGeneration + 1 });
    const fields = new Map([...item.fields].map(([name, { bytes }]) => [name, Buffer.from(bytes).toString('latin1')]));
    const submission: Submission = { number: ++this.#submissions, expectedGeneration, fields };
    this.#tell('submitted', asked, '', submission);
    const attempt = () => {
      this.#ask('duplicated submit', (dispatch) => dispatch.submit(item), answered);
    };
    const answered = (submitted: Submitted | undefined) => {
      if (submitted?.kind === 'accepted') {
        this.#tell('acknowledged', submitted.run, '', { ...submission, created: submitted.created });
        return done(submitted.run);
      }
      if (!submitted || submitted.why === 'unavailable') return time.after(random.between(100, 2_000), attempt);
      const isFair = submitted.why === 'conflict' || submitted.why === 'generation';
      this.#tell(isFair ? 'turned away' : 'refused', asked, `${submitted.why}: ${submitted.message}`, submission);
      done(undefined);
    };
    attempt();
  }

  #acknowledged(planned: PlannedItem, run: RunId): void {
    for (const { afterMs, kind } of planned.wishes) this.later(afterMs, (over) => this.post(run, kind, over));
    for (const again of planned.again) {
      this.later(again.afterMs, (over) => this.#submit(this.#resubmitted(planned.item, run, again), over));
    }
    this.later(0, (over) => this.#look(planned, run, planned.retries, over));
  }

  #resubmitted(item: FlowItem, run: RunId, { expected, withOtherFields }: Resubmission): FlowItem {
    const fields = withOtherFields ? new Map([['size', { bytes: Buffer.from('77') }]]) : item.fields;
    if (expected === undefined) return { ...item, fields };
    return { ...item, fields, expectedGeneration: Math.max(0, runParts(run).generation + expected) };
  }

  /** Looks after a run until nothing is left to be done about it. */
  #look(planned: PlannedItem, run: RunId, retries: number, over: () => void): void {
    const again = (retriesLeft: number) => {
      this.#world.time.after(lookEveryMs, () => this.#look(planned, run, retriesLeft, over));
    };
    const control = this.#world.look(run);
    const status = control?.status;
    if (status?.state === State.PARKED && planned.releases) {
      return this.post(run, { case: 'release', value: {} }, () => again(retries));
    }
    const isAtRest = control && status && (isTerminal(status.state) || status.state === State.PARKED);
    if (!control || !status || !isAtRest) return again(retries);
    if (retries === 0 || status.state === State.SUCCEEDED || status.state === State.PARKED) {
      if (isTerminal(status.state)) this.#nextGeneration(planned, run);
      return over();
    }
    const { random, flows } = this.#world;
    this.post(run, goOnFrom(random, flows, control), () => again(retries - 1));
  }

  #nextGeneration(planned: PlannedItem, run: RunId): void {
    if (planned.generations === 0) return;
    const { random } = this.#world;
    const fields = new Map([['size', { bytes: Buffer.from(String(random.between(0, 9))) }]]);
    const item = { ...planned.item, fields, expectedGeneration: runParts(run).generation };
    this.later(random.between(0, 3_000), (over) =>
      this.#submit(item, (next) => {
        const left = { ...planned, item, generations: planned.generations - 1, wishes: [], again: [] };
        if (next !== undefined) this.#acknowledged(left, next);
        over();
      }),
    );
  }

  /** Puts an event into a run's inbox, as often as it takes. */
  post(run: RunId, kind: ClientEvent, posted: () => void): void {
    const { time, history } = this.#world;
    const id = `client-${++this.#events}-${kind.case ?? ''}`;
    const event = create(InboxEventSchema, { id, arrivedMs: BigInt(time.wallMs), kind });
    const attempt = () => {
      this.#ask(
        'duplicated event',
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

  /** One question to one dispatch; `answered` hears undefined when no answer comes. At times it is asked twice. */
  #ask<Result>(
    copied: 'duplicated submit' | 'duplicated event',
    question: (dispatch: Dispatch) => Promise<Result>,
    answered: (result: Result | undefined) => void,
  ): void {
    const { time, random, faults } = this.#world;
    let isOver = false;
    const finish = (result: Result | undefined) => {
      if (isOver) return;
      isOver = true;
      answered(result);
    };
    time.after(patienceMs, () => finish(undefined));
    const asked = this.#anyDispatch();
    if (!asked) return;
    this.#send(asked, question, finish);
    if (!faults.strikes(copied, asked.name)) return;
    time.after(random.between(1, maxCopyMs), () => {
      const other = this.#anyDispatch();
      if (other) this.#send(other, question, () => {});
    });
  }

  #anyDispatch(): Incarnation | undefined {
    const running = this.#world.processes.flatMap(({ current }) => (current?.dispatch ? [current] : []));
    return running.length > 0 ? this.#world.random.pick(running) : undefined;
  }

  #send<Result>(
    { process, name, clock, dispatch }: Incarnation,
    question: (dispatch: Dispatch) => Promise<Result>,
    finish: (result: Result | undefined) => void,
  ): void {
    const { time, random, faults, cuts } = this.#world;
    if (cuts.isCut(clients, process)) return;
    clock.after(random.between(1, 20), () => {
      if (!dispatch) return;
      question(dispatch).then(
        (result) => {
          if (!clock.running || cuts.isCut(process, clients) || faults.strikes('lost submit reply', name)) return;
          time.after(random.between(1, 20), () => finish(result));
        },
        () => finish(undefined),
      );
    });
  }

  #tell(what: ClientHappening['what'], run: RunId, detail: string, submission?: Submission): void {
    this.#world.history.add({ kind: 'client', what, run, detail, ...(submission && { submission }) });
  }
}
