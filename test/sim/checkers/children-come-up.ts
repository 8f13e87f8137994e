// How a step that waits for a run ends is how that run ended: at an outcome that it really had, later than the one that the step was
// retried from unless it is a success, with the fields that the run has left.

import { branchOf } from '../../../flow/branch-path.ts';
import type { SubFlowAction } from '../../../flow/plan.ts';
import { type FieldValue, fieldKey, type RunId, type StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { resultOf } from './branches.ts';
import { type Case, childOf, type MakeChecker, type RunView } from './checker.ts';
import { read } from './flow-rules.ts';

interface End {
  readonly outcome: State;
  /** What a field was then, as Latin-1. */
  readonly left: (name: string) => string | undefined;
  /** The fields of which the run tells. A parent that was moved to another version may want others, and hears of them only if it looks. */
  readonly told: readonly string[];
}

export const childrenComeUp: MakeChecker = (subject, report) => {
  const ends = new Ends(subject);
  const checkParent = ({ run, changes }: WriteHappening, before: RunView | undefined, after: RunView) => {
    const plan = subject.planOfWrite(before, after);
    for (const [path, state] of changes.steps) {
      const action = childOf(plan, path);
      const child = state?.child;
      if (child !== undefined && child !== before?.steps.get(path)?.child && ends.roundOf(child) !== state?.round)
        report(
          `${printableRun(run)} ${path} takes ${printableRun(child)} for its own, of round ${ends.roundOf(child)}`,
        );
      if (action?.kind !== 'sub_flow') continue;
      if (state === null) {
        const result = textOf(changes.fields.get(fieldKey(path, 'result')) ?? undefined);
        const isReal = ends.successes(run, path).some(({ left, told }) => {
          const heard = action.receive.filter((name) => told.includes(name));
          return [action.receive, heard].some((names) => resultOf(plan, names, left) === result);
        });
        if (result !== undefined && !isReal)
          report(`${printableRun(run)} ${path} has ${result}, which no run has left`);
        continue;
      }
      const was = before?.steps.get(path);
      const hasFailed = state.status === StepStatus.FAILED && state.reason === Reason.CHILD;
      const isEnd = state.status === StepStatus.DONE || hasFailed;
      if (!isEnd || (was?.status === state.status && was.round === state.round)) continue;
      const wrong = wrongEnd(ends, { run, path, action, was }, state, after);
      if (wrong) report(`${printableRun(run)} ${path} is ${StepStatus[state.status]} ${wrong}`);
    }
  };
  return {
    see(record, before, after) {
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      ends.note(record, before, after);
      checkParent(record, before, after);
    },
  };
};

/** How the runs that others have started ended, each time. */
class Ends {
  readonly #subject: Case;
  /** By `run outcome-number`. */
  readonly #ends = new Map<string, End>();
  /** The last end with success, by run. */
  readonly #successes = new Map<RunId, End>();
  /** Runs that a step started, in any of its rounds, by `run step`. */
  readonly #children = new Map<string, RunId[]>();
  /** The round in which each run was started. */
  readonly #rounds = new Map<RunId, number>();

  constructor(subject: Case) {
    this.#subject = subject;
  }

  note({ run, operation }: WriteHappening, before: RunView | undefined, after: RunView): void {
    const { parent, status } = after.control;
    if (!parent) return;
    if (operation === 'create') {
      this.#children.set(`${parent.run} ${parent.step}`, [...this.started(parent.run, parent.step), run]);
      this.#rounds.set(run, parent.round);
    }
    const outcome = isTerminal(status.state) ? status.state : status.outcome;
    if (status.outcomeNumber === before?.control.status.outcomeNumber || outcome === State.UNSPECIFIED) return;
    const plan = this.#subject.planOfWrite(before, after);
    const left = (name: string) => textOf(plan && read(after, plan.atEnd(name)));
    const end = { outcome, left, told: parent.receive };
    this.#ends.set(`${run} ${status.outcomeNumber}`, end);
    if (outcome === State.SUCCEEDED) this.#successes.set(run, end);
  }

  of(child: RunId, outcomeNumber: number): End | undefined {
    return this.#ends.get(`${child} ${outcomeNumber}`);
  }

  roundOf(child: RunId): number | undefined {
    return this.#rounds.get(child);
  }

  started(run: RunId, step: string): readonly RunId[] {
    return this.#children.get(`${run} ${step}`) ?? [];
  }

  /** How the runs that a step started have succeeded. */
  successes(run: RunId, step: string): End[] {
    return this.started(run, step).flatMap((child) => this.#successes.get(child) ?? []);
  }
}

interface Waiting {
  readonly run: RunId;
  readonly path: string;
  readonly action: SubFlowAction;
  readonly was: StepState | undefined;
}

function wrongEnd(ends: Ends, waiting: Waiting, state: StepState, after: RunView): string | undefined {
  const { run, path, action, was } = waiting;
  const { child, childOutcome = 0, status } = state;
  if (child === undefined || !ends.started(run, path).includes(child))
    return `by ${child ?? 'no run'}, which it didn't start`;
  const end = ends.of(child, childOutcome);
  if (!end) return `at outcome ${childOutcome} of its run, which isn't there`;
  const isSuccess = end.outcome === State.SUCCEEDED;
  if (isSuccess !== (status === StepStatus.DONE)) return `and its run is ${State[end.outcome]}`;
  const isOver = was?.child === child && childOutcome <= (was.childOutcome ?? 0);
  if (isOver && !isSuccess) return `at outcome ${childOutcome} of its run, which is over`;
  // What a branch leaves is one field, looked at when it is taken in.
  if (branchOf(path) || !isSuccess) return undefined;
  const isOther = (name: string) => {
    const value = textOf(after.fields.get(fieldKey(path, name)));
    return value !== end.left(name) && (value !== undefined || end.told.includes(name));
  };
  const other = action.receive.find(isOther);
  return other === undefined ? undefined : `with another ${other} than its run has left`;
}

function textOf(value: FieldValue | undefined): string | undefined {
  return value && Buffer.from(value.bytes).toString('latin1');
}
