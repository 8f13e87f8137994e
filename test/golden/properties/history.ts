// A run and what it decides, checked at every step: the decision is the same for the run as it was loaded from a store, its changes
// replayed give the same state, and an effect is out for exactly the steps that are RUNNING.
//
// Ownership: a History owns the run. Whoever drives it says what happens and takes the effects.
//
// Invariants:
//   H1  Deciding about the encoded and decoded run gives the same decision.
//   H2  The recorded changes, applied to the first state, give the state.
//   H3  While a run is OPEN or ENDING, its RUNNING steps are those with an effect out.
//   H4  While a run is OPEN, some step is under way that somebody or the time will end.

import { isDeepStrictEqual } from 'node:util';
import { apply } from '../../../flow/apply.ts';
import type { Changes } from '../../../flow/change.ts';
import { type Decision, decide } from '../../../flow/decide.ts';
import type { AbortEffect, Effect } from '../../../flow/effect.ts';
import type { RunEvent } from '../../../flow/event.ts';
import { newRun } from '../../../flow/new-run.ts';
import type { Plan } from '../../../flow/plan.ts';
import type { FieldValue, Parent, Run, Status } from '../../../flow/run.ts';
import { type Standing, standing } from '../../../flow/standing.ts';
import { isUnderWay } from '../../../flow/step-status.ts';
import { State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import {
  decodeControl,
  decodeField,
  decodeStep,
  encodeControl,
  encodeField,
  encodeStep,
} from '../../../store/codec.ts';
import { Checks, expect } from './checks.ts';
import type { Random } from './random.ts';

export type Pending = Exclude<Effect, AbortEffect>;

const endingDeadlineMs = 60_000;
const startMs = 1_767_225_600_000;

export class History {
  /** In ms since 1970. */
  nowMs = startMs;
  #plan: Plan;
  readonly #planOf: (version: number) => Plan;
  readonly #random: Random;
  readonly #checks = new Checks();
  readonly #first: Run;
  readonly #changes: Changes[] = [];
  readonly #out = new Map<string, Pending>();
  #run: Run;

  constructor(planOf: (version: number) => Plan, random: Random, inputs: Inputs) {
    this.#planOf = planOf;
    this.#random = random;
    this.#plan = planOf(1);
    const { run } = newRun(this.plan, {
      itemKey: new TextEncoder().encode('item'),
      generation: 1,
      level: 5,
      order: 1,
      creationHash: new Uint8Array(),
      nowMs: startMs,
      ...inputs,
    });
    this.#run = run;
    this.#first = loaded(run);
  }

  /** By which the run is decided. */
  get plan(): Plan {
    return this.#plan;
  }

  get run(): Run {
    return this.#run;
  }

  get status(): Status {
    return this.#run.control.status;
  }

  get standing(): Standing {
    return standing(this.#run, endingDeadlineMs);
  }

  /** Effects that nobody has answered. */
  get pending(): readonly Pending[] {
    return [...this.#out.values()];
  }

  get decisions(): number {
    return this.#changes.length;
  }

  get isMoved(): boolean {
    return this.#run.control.flowVersion !== this.plan.version;
  }

  /** Another holder takes the run: nobody knows of the effects of the one before. */
  claim(barrenClaims = 1): void {
    this.#plan = this.#planOf(this.#run.control.flowVersion);
    this.#out.clear();
    this.happen({ kind: 'claimed', barrenClaims });
  }

  /** What answers an effect takes it in. */
  answer({ step }: Pending, event: RunEvent): Decision {
    this.#out.delete(step);
    return this.happen(event);
  }

  happen(event: RunEvent): Decision {
    const chance = this.#random.next();
    const context = { nowMs: this.nowMs, random: () => chance, endingDeadlineMs };
    const decision = decide(this.plan, this.#run, event, context);
    const again = decide(this.plan, loaded(this.#run), event, context);
    expect(isDeepStrictEqual(again, decision), 'H1', `${event.kind} is decided otherwise by a run that was loaded`);
    this.#checks.decision(this.plan, this.#run, event, decision);
    this.#changes.push(decision.changes);
    this.#run = apply(this.#run, decision.changes);
    for (const effect of decision.effects) {
      if (effect.kind === 'abort') this.#out.delete(effect.step);
      else this.#out.set(effect.step, effect);
    }
    this.#checkRunning();
    return decision;
  }

  /** H2. */
  replay(): void {
    let replayed = this.#first;
    for (const changes of this.#changes) replayed = apply(replayed, changes);
    expect(isDeepStrictEqual(replayed, this.#run), 'H2', 'the changes replayed give another state');
  }

  #checkRunning(): void {
    const { state } = this.status;
    if (state !== State.OPEN && state !== State.ENDING) {
      this.#out.clear();
      return;
    }
    const running = [...this.#run.steps].filter(([, step]) => step.status === StepStatus.RUNNING).map(([path]) => path);
    const [wanted, found] = [running.toSorted().join(), [...this.#out.keys()].toSorted().join()];
    expect(wanted === found, 'H3', `RUNNING: ${wanted}; effects out: ${found}`);
    if (state === State.OPEN && !this.isMoved) expect(this.#isUnderWay(), 'H4', 'nothing is under way');
  }

  /** A list waits for its branches, which are steps of their own. */
  #isUnderWay(): boolean {
    return [...this.#run.steps].some(
      ([path, { status }]) => isUnderWay(status) && this.plan.byId.get(path)?.action.kind !== 'for_each',
    );
  }
}

/** What a run begins with. */
export interface Inputs {
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly parent?: Parent;
}

/** The run as its store gives it back. */
function loaded({ id, control, steps, fields }: Run): Run {
  return {
    id,
    control: decodeControl(encodeControl(control)),
    steps: new Map([...steps].map(([path, step]) => [path, decodeStep(encodeStep(step))])),
    fields: new Map([...fields].map(([key, field]) => [key, decodeField(encodeField(field))])),
  };
}
