// The life of one random run: anything may happen to it for a while, then all goes well, and it has to end.

import { create } from '@bufbuild/protobuf';
import { compileFlow } from '../../../flow/compile.ts';
import type { CallEffect } from '../../../flow/effect.ts';
import { runId } from '../../../flow/run-id.ts';
import type { InboxKind } from '../../../flow/simulation/virtual-run.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { Ending, type InboxEvent, InboxEventSchema, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { checkEnd, expect } from './checks.ts';
import { Children } from './children.ts';
import { History, type Pending } from './history.ts';
import type { Random } from './random.ts';
import { listLengths, randomFlow } from './random-flow.ts';

/** Happenings before all goes well. */
const maxTroubles = 120;
/** Decisions within which a run has to end then. */
const maxHealing = 3_000;
const maxReopenings = 4;

/** Lives it to its end. Throws at the first thing that doesn't hold. */
export function randomLife(random: Random): History {
  return new Life(random).live();
}

class Life {
  readonly #random: Random;
  readonly #history: History;
  readonly #items: readonly string[];
  readonly #children = new Children();
  /** Events that came while the run was ending. */
  #inbox: InboxEvent[] = [];
  #old: CallEffect[] = [];
  #events = 0;
  #reopenings = 0;
  #heals = false;

  constructor(random: Random) {
    this.#random = random;
    const flow = randomFlow(random);
    const plans = [1, 2].map((version) => compileFlow(flow, version));
    const planOf = (version: number) => plans[version - 1] ?? compileFlow(flow, version);
    this.#items = Array.from({ length: random.pick(listLengths) }, (_, index) => `item ${index}`);
    const parent = { run: runId({ business: 'golden', flow: 'parent', itemKey: new Uint8Array([1]), generation: 1 }) };
    this.#history = new History(planOf, random, {
      fields: new Map([
        ['mode', field(random.pick(['a', 'b', 'c']))],
        ['items', field(JSON.stringify(this.#items))],
      ]),
      ...(random.chance(0.3) && {
        parent: { ...parent, step: 'child', round: 1, waits: true, receive: ['f0', 'r1'], chain: 1 + random.below(3) },
      }),
    });
  }

  live(): History {
    const history = this.#history;
    history.claim();
    for (let trouble = 0; trouble < maxTroubles; trouble++) this.#trouble();
    this.#heals = true;
    const before = history.decisions;
    for (;;) {
      if (isTerminal(history.status.state) && this.#leftOver()) break;
      this.#heal();
      const { state } = history.status;
      expect(
        history.decisions - before < maxHealing,
        'end',
        `${State[state]} after ${maxHealing} decisions without trouble`,
      );
    }
    history.replay();
    checkEnd(history.plan, history.run, this.#items);
    return history;
  }

  #trouble(): void {
    const random = this.#random;
    const { state } = this.#history.status;
    if (this.#history.isMoved) return this.#history.claim();
    if (state === State.PARKED && random.chance(0.5)) return this.#inboxed({ case: 'release', value: {} });
    if (isTerminal(state) && this.#reopenings < maxReopenings && random.chance(0.5)) return this.#reopen();
    const [effect] = random.some(this.#history.pending, 1 / Math.max(1, this.#history.pending.length));
    if (effect && random.chance(0.7)) return this.#answer(effect);
    const waiting = this.#waiting();
    switch (random.below(10)) {
      case 0:
        return this.#history.claim();
      case 1:
        return this.#pass();
      case 2:
      case 3:
        return this.#childEnds(random.pick([State.SUCCEEDED, State.SUCCEEDED, State.FAILED, State.CANCELLED]));
      case 4:
        return this.#childGoesOn();
      case 5:
        return this.#inboxed({ case: 'signal', value: { name: `go${random.below(3)}`, fields: {} } });
      case 6:
        if (waiting.length > 0)
          this.#complete(random.pick(waiting), random.pick([Ending.SUCCEEDED, Ending.FAILED, Ending.REJECTED]));
        return;
      case 7:
        return this.#late();
      case 8:
        return this.#inboxed({ case: 'level', value: { level: 1 + random.below(9) } });
      default:
        if (random.chance(0.15)) this.#inboxed({ case: 'cancel', value: { cause: 'trouble' } });
    }
  }

  /** One good thing. */
  #heal(): void {
    const history = this.#history;
    const { state } = history.status;
    if (history.isMoved) return history.claim();
    if (state === State.PARKED) return this.#inboxed({ case: 'release', value: {} });
    const [effect] = history.pending;
    if (effect) return this.#answer(effect);
    const [child] = this.#children.open();
    if (child !== undefined) return this.#inboxed(this.#children.end(child, State.SUCCEEDED, 'healed'));
    const [waiting] = this.#waiting();
    if (waiting !== undefined) return this.#complete(waiting, Ending.SUCCEEDED);
    this.#pass();
  }

  /** Events that a run didn't consume while it was ending come to it afterwards. True when there is none. */
  #leftOver(): boolean {
    const events = this.#inbox;
    this.#inbox = [];
    for (const event of events) this.#arrive(event);
    return events.length === 0;
  }

  #answer(effect: Pending): void {
    const random = this.#random;
    const { step } = effect;
    switch (effect.kind) {
      case 'tell': {
        if (effect.event.kind.case === 'cancel') {
          const child = this.#children.cancel(effect);
          if (child !== undefined) this.#inboxed(this.#children.end(child, State.CANCELLED, 'cancelled'));
        }
        return void this.#history.answer(effect, { kind: 'told', step });
      }
      case 'start': {
        const seen = this.#children.start(effect);
        return void this.#history.answer(effect, { kind: 'child seen', step, round: effect.round, seen });
      }
      case 'call': {
        if (!this.#heals && random.chance(0.05)) {
          return void this.#history.answer(effect, { kind: 'withdrawn', step, round: effect.round });
        }
        this.#old.push(effect);
        return void this.#history.answer(effect, this.#answered(effect, this.#ending()));
      }
    }
  }

  #ending(): Ending {
    if (this.#heals || this.#random.chance(0.75)) return Ending.SUCCEEDED;
    const { FAILED, FATAL, TIMED_OUT, OVERLOADED, LOST, REJECTED, VIOLATION, UNREACHABLE } = Ending;
    return this.#random.pick([FAILED, FATAL, TIMED_OUT, OVERLOADED, LOST, LOST, REJECTED, VIOLATION, UNREACHABLE]);
  }

  #answered({ step, round, attempt, callKey, fields }: CallEffect, ending: Ending) {
    const item = fields.find(([name]) => name === 'item')?.[1] ?? field(callKey);
    const kept = new Map([
      ['out', item],
      ...Array.from({ length: 12 }, (_, index) => [`f${index}`, field(callKey)] as const),
    ]);
    const answer = { ending, message: '', fields: ending === Ending.SUCCEEDED ? kept : new Map() };
    return { kind: 'answered', step, round, attempt, answer, tries: [] } as const;
  }

  /** An answer that was given already comes again. */
  #late(): void {
    if (this.#old.length === 0) return;
    const effect = this.#random.pick(this.#old);
    const isOut = this.#history.pending.some(
      (each) => each.kind === 'call' && each.callKey === effect.callKey && each.attempt === effect.attempt,
    );
    if (!isOut) this.#history.happen(this.#answered(effect, Ending.SUCCEEDED));
  }

  #childEnds(outcome: State): void {
    const random = this.#random;
    const open = this.#children.open();
    if (open.length === 0) return;
    const child = random.pick(open);
    const event = this.#children.end(child, outcome, `end ${this.#events}`);
    // What a child tells may be lost, or come twice.
    if (random.chance(0.8)) this.#inboxed(event);
    if (random.chance(0.1)) this.#inboxed(this.#children.told(child));
  }

  #childGoesOn(): void {
    const failed = this.#children.failed();
    if (failed.length > 0 && this.#random.chance(0.5)) this.#inboxed(this.#children.goOn(this.#random.pick(failed)));
  }

  /** Callbacks that wait for their answer. */
  #waiting(): string[] {
    const { plan, run } = this.#history;
    return plan.steps
      .filter(({ id, action }) => action.kind === 'callback' && run.steps.get(id)?.status === StepStatus.WAITING)
      .map(({ id }) => id);
  }

  #complete(step: string, ending: Ending): void {
    const round = this.#history.run.steps.get(step)?.round ?? 1;
    this.#inboxed({ case: 'completed', value: { step, round, ending, fields: {} } });
  }

  #reopen(): void {
    this.#reopenings += 1;
    const random = this.#random;
    const { outcomeNumber } = this.#history.status;
    const flowVersion = random.pick([0, 0, 1, 2]);
    const step = random.pick(this.#history.plan.steps).id;
    const rewinds = random.chance(0.4);
    if (rewinds) return this.#inboxed({ case: 'rewind', value: { outcomeNumber, step, flowVersion } });
    this.#inboxed({ case: 'retry', value: { outcomeNumber, flowVersion } });
  }

  #inboxed(kind: InboxKind): void {
    this.#arrive(create(InboxEventSchema, { id: `event-${++this.#events}`, kind }));
  }

  #arrive(event: InboxEvent): void {
    // What a run that was moved is told is for its next holder.
    if (this.#history.isMoved) this.#history.claim();
    const { changes } = this.#history.happen({ kind: 'inbox', event });
    if (changes.consumed.length === 0) this.#inbox.push(event);
  }

  /** Time goes on to what comes next. */
  #pass(): void {
    const { standing } = this.#history;
    // Nothing comes by itself while another run is being told.
    const wakeMs = 'wakeMs' in standing && Number.isFinite(standing.wakeMs) ? standing.wakeMs : 0;
    this.#history.nowMs = Math.max(this.#history.nowMs, wakeMs);
    this.#history.happen({ kind: 'tick' });
  }
}

function field(text: string) {
  return { bytes: new TextEncoder().encode(text) };
}
