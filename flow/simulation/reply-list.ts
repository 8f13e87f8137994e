// The replies of a script, each given once.
//
// Ownership: one ReplyList belongs to one simulation.

import { childPath } from '../definition/problem.ts';
import type { Plan } from '../plan.ts';
import { answeredBy, stepOf } from './answered-by.ts';
import type { Answered, Reply } from './reply.ts';
import type { Script, ScriptProblem, StepReplies } from './script.ts';

export type NextReply =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'missing'; readonly problem: ScriptProblem };

export class ReplyList {
  readonly #plan: Plan;
  readonly #script: Script;
  /** How many replies of an entry of the script are given. */
  readonly #given = new Map<string, number>();

  constructor(plan: Plan, script: Script) {
    this.#plan = plan;
    this.#script = script;
  }

  /** The next reply to a step: its own, that of the step it is a branch of, or what the script says otherwise. */
  next(id: string): NextReply {
    const key = this.#script.replies.has(id) ? id : stepOf(id);
    const given = this.#given.get(key) ?? 0;
    this.#given.set(key, given + 1);
    const isChild = answeredBy(this.#plan, id).kind === 'child';
    const reply = this.#script.replies.get(key)?.replies[given] ?? (isChild ? undefined : this.#otherwise(id));
    if (reply) return { kind: 'reply', reply };
    const path = childPath('steps', id);
    const message = isChild
      ? `run ${given + 1} of the sub-flow of ${id} has no end: add one to ${path}, such as SUCCEEDED`
      : `call ${given + 1} of step ${id} has no answer: add one to ${path}, or give an otherwise`;
    const { line, column } = this.#script.replies.get(key)?.position ?? this.#script.position;
    return { kind: 'missing', problem: { path, message, line, column } };
  }

  /** Replies that nobody asked for. */
  unused(): ScriptProblem[] {
    return [...this.#script.replies].flatMap(([id, { replies }]: [string, StepReplies]) =>
      replies.slice(this.#given.get(id) ?? 0).map(({ word, position: { line, column } }) => {
        return { path: childPath('steps', id), message: `${word} was not asked for`, line, column };
      }),
    );
  }

  /** Work that is taken on is answered later in the same way. */
  #otherwise(id: string): Answered | undefined {
    const { otherwise } = this.#script;
    const isCallback = answeredBy(this.#plan, id).kind === 'callback';
    return otherwise && isCallback ? { ...otherwise, later: otherwise } : otherwise;
  }
}
