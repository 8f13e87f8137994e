// What holds for every decision about every run.
//
// Ownership: a Checks belongs to one history; `decision` is told every decision before it is applied.
//
// Invariants:
//   P1  What is settled stays settled in its round: a join goes on once, what is done or skipped is not begun again.
//   P2  A round rises only when a person retries, rewinds or releases, or a child goes on.
//   P3  A retry leaves alone what is done; a branch that is done isn't begun again.
//   P4  Under one call key the same module gets the same fields, however often and by whomever it is called.
//   P5  Under one step and round the same run is started.
//   P6  An inbox event is consumed by the decision that sees it, or stays while the run is ending.
//   P7  A run that has succeeded has settled all its steps; what failed or was stopped belongs to a join that was done without it.
//   P8  The results of a list stand in its order.
//   P9  A join goes on when as many of its predecessors are done as it needs, of those that were not skipped.

import { hasBit } from '../../../flow/bits.ts';
import { branchOf } from '../../../flow/branch-path.ts';
import type { Changes } from '../../../flow/change.ts';
import type { Decision } from '../../../flow/decide.ts';
import type { Effect } from '../../../flow/effect.ts';
import type { RunEvent } from '../../../flow/event.ts';
import type { Plan } from '../../../flow/plan.ts';
import { fieldKey, type Run, type StepState } from '../../../flow/run.ts';
import { isSettled } from '../../../flow/step-status.ts';
import { type InboxEvent, Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';

type StateOf = (path: string) => StepState | undefined;
type InboxCase = InboxEvent['kind']['case'];

const raisesRounds: ReadonlySet<InboxCase> = new Set(['retry', 'rewind', 'release', 'childReopened', 'childEnded']);
const bringsBack: ReadonlySet<InboxCase> = new Set(['childReopened', 'childEnded']);

export class Checks {
  /** `step@round` of what is settled for good. */
  readonly #settled = new Set<string>();
  /** What went out under a key, by version of the flow. */
  readonly #sent = new Map<string, string>();

  decision(plan: Plan, run: Run, event: RunEvent, { changes, effects }: Decision): void {
    const what = event.kind === 'inbox' ? event.event.kind.case : undefined;
    for (const [path, after] of changes.steps) {
      const before = run.steps.get(path);
      // Early signals and what is to be told are no steps.
      if (!before || path.startsWith('signal/') || path.startsWith('tell/')) continue;
      this.#step(path, before, after, what);
    }
    if (event.kind === 'inbox') checkConsumed(run, event.event, changes);
    const stateOf = (path: string) => {
      const changed = changes.steps.get(path);
      return changed === undefined ? run.steps.get(path) : (changed ?? undefined);
    };
    for (const effect of effects) this.#effect(plan, effect, stateOf);
    for (const path of changes.steps.keys()) checkJoin(plan, path, stateOf);
  }

  #step(path: string, before: StepState, after: StepState | null, what: InboxCase): void {
    const isForgotten = after === null && what === 'rewind';
    if (after === null || isSettled(after.status)) {
      if (!isForgotten && after?.status !== StepStatus.FAILED) this.#settled.add(`${path}@${before.round}`);
    }
    if (after === null) return;
    expect(after.round >= before.round, 'P2', `${path} goes back to round ${after.round}`);
    if (after.round > before.round) expect(raisesRounds.has(what), 'P2', `${path} has another round after ${what}`);
    if (before.status === StepStatus.DONE && !path.startsWith('exit/') && what === 'retry') {
      expect(after.status === StepStatus.DONE, 'P3', `${path} was done and is ${StepStatus[after.status]}`);
    }
    if (!isSettled(before.status) || after.round > before.round || after.status === before.status) return;
    const goesOn = before.status === StepStatus.FAILED && before.child !== undefined && bringsBack.has(what);
    const change = `${StepStatus[before.status]} → ${StepStatus[after.status]}`;
    expect(goesOn, 'P1', `${path}: ${change} in round ${after.round}`);
  }

  #effect(plan: Plan, effect: Effect, stateOf: StateOf): void {
    if (effect.kind !== 'call' && effect.kind !== 'start') return;
    const { step, round } = effect;
    const branch = branchOf(step);
    const done = branch && stateOf(branch.step)?.branches?.done;
    expect(!done || !hasBit(done, branch.index), 'P3', `${step} is done and begins again`);
    expect(!this.#settled.has(`${step}@${round}`), 'P1', `${step} begins in round ${round}, in which it was settled`);
    const key = `${plan.version}/${effect.kind === 'call' ? effect.callKey : `${step}@${round}`}`;
    const sent = textOf(effect.kind === 'call' ? [effect.module, effect.fields] : [effect.name, effect.fields]);
    const earlier = this.#sent.get(key) ?? sent;
    this.#sent.set(key, sent);
    expect(earlier === sent, effect.kind === 'call' ? 'P4' : 'P5', `${key}: ${earlier}, then ${sent}`);
  }
}

function checkJoin(plan: Plan, path: string, stateOf: StateOf): void {
  const step = plan.byId.get(path);
  if (step?.action.kind !== 'join' || stateOf(path)?.status !== StepStatus.DONE) return;
  const statuses = step.after.map((id) => stateOf(id)).filter((state) => !isNotTaken(state));
  const done = statuses.filter((state) => state?.status === StepStatus.DONE).length;
  const need = Math.min(step.action.need === 0 ? step.after.length : step.action.need, statuses.length);
  expect(done >= need, 'P9', `${path} goes on with ${done} of ${need}`);
}

/** Skipped, and not because something before it failed. */
function isNotTaken(state: StepState | undefined): boolean {
  return state?.status === StepStatus.SKIPPED && state.reason === Reason.UNSPECIFIED;
}

function checkConsumed(run: Run, event: InboxEvent, { consumed }: Changes): void {
  const isLeft = consumed.length === 0 && run.control.status.state === State.ENDING;
  const isUsedUp = consumed.length === 1 && consumed[0] === event.id;
  expect(isUsedUp || isLeft, 'P6', `${event.id} was consumed as ${consumed.join()}`);
}

/** What holds at the end: P7 and P8. `items` are the elements of the run's list. */
export function checkEnd(plan: Plan, run: Run, items: readonly string[]): void {
  for (const { id, action, join } of plan.steps) {
    const state = run.steps.get(id);
    if (run.control.status.state === State.SUCCEEDED) {
      expect(isSettled(state?.status), 'P7', `${id} is not settled`);
      const isWell = state?.status === StepStatus.DONE || state?.status === StepStatus.SKIPPED;
      expect(isWell || join !== undefined, 'P7', `${id} is not done, and no join does without it`);
    }
    if (action.kind !== 'for_each' || state?.status !== StepStatus.DONE) continue;
    const { bytes } = run.fields.get(fieldKey(id, action.into.name)) ?? { bytes: new Uint8Array() };
    const results = JSON.parse(new TextDecoder().decode(bytes)) as Array<{ out: string } | null>;
    const isInOrder = results.every((result, index) => result === null || result.out === items[index]);
    expect(results.length === items.length && isInOrder, 'P8', `${id}: ${JSON.stringify(results)}`);
  }
}

/** Throws, naming the invariant. */
export function expect(holds: boolean, invariant: string, message: string): void {
  if (!holds) throw new Error(`${invariant}: ${message}`);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (each instanceof Uint8Array ? [...each] : each));
}
