// Runs a flow by a script: every call is answered as the script says, time jumps to whatever comes next. Pure: the same script
// gives the same trace everywhere.
//
// Ownership: a Simulator lives for one call of `simulate`.
//
// Invariants:
//   S1  A call that goes out has exactly one pending reply, until it is performed, aborted, or its holder dies.
//   S2  A child that has begun has exactly one pending end.

import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { CallEffect, Effect, StartEffect, TellEffect } from '../effect.ts';
import type { Plan } from '../plan.ts';
import type { Status } from '../run.ts';
import { Children } from './children.ts';
import type { Answered, Reply } from './reply.ts';
import { answerEvent, completedEvent } from './reply-event.ts';
import { ReplyList } from './reply-list.ts';
import { type Pending, Schedule } from './schedule.ts';
import type { Script, ScriptProblem } from './script.ts';
import type { ScriptedEvent } from './scripted-event.ts';
import { printValues } from './values.ts';
import { type Decided, startMs, VirtualRun } from './virtual-run.ts';

/** Decisions of one simulation. A module that declines for a day makes 35,000. */
const maxMoments = 100_000;

/** One decision and what it came from. */
export interface Moment {
  /** Since the submission, in ms. */
  readonly atMs: number;
  /** What happened, for people; empty when time alone went on. */
  readonly what: string;
  readonly decided: Decided;
}

export interface Simulation {
  readonly moments: readonly Moment[];
  /** How the run stands at the end, and since when: since the submission, in ms. */
  readonly status: Status;
  readonly sinceMs: number;
  /** Why the simulation stopped before the run did: a call without an answer, too many decisions. */
  readonly fault?: ScriptProblem;
  /** Replies that nobody asked for. */
  readonly warnings: readonly ScriptProblem[];
}

export function simulate(plan: Plan, script: Script): Simulation {
  return new Simulator(plan, script).run();
}

class Simulator {
  readonly #script: Script;
  readonly #run: VirtualRun;
  readonly #schedule = new Schedule();
  readonly #replies: ReplyList;
  readonly #children: Children;
  readonly #moments: Moment[] = [];
  #fault: ScriptProblem | undefined;

  constructor(plan: Plan, script: Script) {
    this.#script = script;
    this.#run = new VirtualRun(plan, { level: script.level });
    this.#replies = new ReplyList(plan, script);
    this.#children = new Children(plan.business);
  }

  run(): Simulation {
    const { inputs, events, position } = this.#script;
    for (const event of events) this.#schedule.add(this.#scripted(event));
    this.#record(`submit ${printValues(inputs)}`.trimEnd(), this.#run.submit(inputs));
    for (let next = this.#next(); next && !this.#fault; next = this.#next()) {
      if (this.#moments.length >= maxMoments) {
        this.#fault = { path: '', message: `the simulation stopped after ${maxMoments} decisions`, ...position };
        break;
      }
      this.#schedule.remove(next);
      this.#run.moveTo(next.atMs);
      this.#record(next.what, next.perform());
    }
    const { status } = this.#run.run.control;
    return {
      moments: this.#moments,
      status,
      sinceMs: status.sinceMs - startMs,
      ...(this.#fault && { fault: this.#fault }),
      warnings: this.#replies.unused(),
    };
  }

  /** What comes next: events and replies in the order of their times, then time itself. */
  #next(): Pending | undefined {
    const { first } = this.#schedule;
    const standing = this.#moments.at(-1)?.decided.standing;
    if (!standing || standing.kind === 'ended' || standing.kind === 'parked') return first;
    const atMs = Math.max(standing.wakeMs, this.#run.nowMs);
    if ((first && first.atMs <= atMs) || atMs === Infinity) return first;
    return { atMs, diesWithHolder: true, what: '', perform: () => this.#run.happen({ kind: 'tick' }) };
  }

  #record(what: string, decided: Decided): void {
    this.#moments.push({ atMs: this.#run.nowMs - startMs, what, decided });
    for (const effect of decided.effects) this.#follow(effect);
  }

  #scripted({ atMs, what, happening }: ScriptedEvent): Pending {
    const perform = (): Decided => {
      if (happening.kind === 'inbox') return this.#run.inbox(happening.event);
      this.#schedule.loseHolder();
      return this.#run.happen({ kind: 'claimed', barrenClaims: 1 });
    };
    return { atMs: startMs + atMs, diesWithHolder: false, what, perform };
  }

  /** An effect is performed: what comes of it becomes pending. */
  #follow(effect: Effect): void {
    switch (effect.kind) {
      case 'call':
        return this.#call(effect);
      case 'abort':
        return this.#schedule.forget(effect.step);
      case 'start':
        return this.#start(effect);
      case 'tell':
        return this.#tell(effect);
    }
  }

  #call(effect: CallEffect): void {
    const reply = this.#replyTo(effect.step);
    if (!reply) return;
    if (reply.kind !== 'answered') throw new Error(`invariant: ${effect.step} is answered by a sub-flow`);
    const { nowMs } = this.#run;
    const leftMs = Math.min(effect.timeoutMs, Math.max(0, effect.deadlineMs - nowMs));
    const answer = inTime(reply, leftMs);
    this.#schedule.add({
      atMs: nowMs + answer.afterMs,
      of: effect.step,
      diesWithHolder: true,
      what: answeredText(effect.step, answer),
      perform: () => {
        if (answer.ending === Ending.SUCCEEDED && answer.later) this.#later(effect, answer.later);
        return this.#run.happen(answerEvent(effect, answer, nowMs));
      },
    });
  }

  /** The answer by token to work that was taken on. */
  #later(effect: CallEffect, answer: Answered): void {
    this.#schedule.add({
      atMs: this.#run.nowMs + (answer.afterMs ?? 0),
      diesWithHolder: false,
      what: `${effect.step} is answered later: ${answer.word}${saidText(answer)}`,
      perform: () => this.#run.inbox(completedEvent(effect, answer)),
    });
  }

  /** A child is there at once, and ends when the script says so. */
  #start(effect: StartEffect): void {
    const { step, round, parent, name } = effect;
    const seen = this.#children.start(effect);
    const what = `${step} sees its child: ${seen.kind}`;
    this.#comesBack(step, what, () => this.#run.happen({ kind: 'child seen', step, round, seen }));
    if (!parent.waits || !this.#children.begins(name)) return;
    const reply = this.#replyTo(step);
    if (!reply) return;
    if (reply.kind !== 'ended') throw new Error(`invariant: the sub-flow of ${step} is answered as a call is`);
    this.#schedule.add({
      atMs: this.#run.nowMs + (reply.afterMs ?? 0),
      of: this.#children.idOf(name),
      diesWithHolder: false,
      what: `the sub-flow of ${step} ends ${reply.word}${saidText(reply)}`,
      perform: () => this.#run.inbox(this.#children.end(effect, reply)),
    });
  }

  /** Whoever is told has heard it at once. */
  #tell({ step, to, event }: TellEffect): void {
    if (event.kind.case === 'cancel') this.#schedule.forget(this.#children.cancel(to));
    this.#comesBack(step, `${step}: told`, () => this.#run.happen({ kind: 'told', step }));
  }

  #comesBack(of: string, what: string, perform: () => Decided): void {
    this.#schedule.add({ atMs: this.#run.nowMs, of, diesWithHolder: true, what, perform });
  }

  #replyTo(step: string): Reply | undefined {
    const next = this.#replies.next(step);
    if (next.kind === 'reply') return next.reply;
    this.#fault ??= next.problem;
    return undefined;
  }
}

/** A reply as it is heard when `leftMs` are left for it. */
function inTime(reply: Answered, leftMs: number): Answered & { readonly afterMs: number } {
  const afterMs = reply.afterMs ?? (reply.ending === Ending.TIMED_OUT ? leftMs : 0);
  if (afterMs <= leftMs) return { ...reply, afterMs };
  const { position } = reply;
  const message = 'no answer within the time of the call';
  const ending = Ending.TIMED_OUT;
  return { kind: 'answered', word: 'TIMED_OUT', ending, message, fields: new Map(), afterMs: leftMs, position };
}

function answeredText(step: string, answer: Answered): string {
  const how = answer.code === undefined ? `the call of ${step} ends: ` : `${step} answers `;
  return `${how}${answer.word}${saidText(answer)}`;
}

function saidText({ message, fields }: Reply): string {
  const said = message === '' ? '' : ` ${JSON.stringify(message)}`;
  return `${said} ${printValues(fields)}`.trimEnd();
}
