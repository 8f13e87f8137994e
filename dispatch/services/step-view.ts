// Steps as callers see them: how they stand, what they wait for, which runs they started.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { countBits } from '../../flow/bits.ts';
import { branchOf } from '../../flow/branch-path.ts';
import type { Action, Plan } from '../../flow/plan.ts';
import type { Run, RunId, StepState } from '../../flow/run.ts';
import { callKey } from '../../flow/run-id.ts';
import { type StepCellSchema, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { StepViewSchema, WaitingSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { runName } from './run-name.ts';

type StepViewInit = MessageInitShape<typeof StepViewSchema>;
type WaitingInit = MessageInitShape<typeof WaitingSchema>;

/** Those that were reached or skipped, in the order of `plan`, each before its branches that are under way; exit calls last. */
export function stepViews(run: Run, plan: Plan): StepViewInit[] {
  const branches = branchesByStep(run);
  const steps = plan.steps.flatMap(({ id, action }) => {
    const branch = action.kind === 'for_each' ? action.branch : undefined;
    return [...view(run, id, action), ...(branches.get(id) ?? []).flatMap((path) => view(run, path, branch))];
  });
  return [...steps, ...plan.exitCalls.flatMap(({ id, action }) => view(run, id, action))];
}

/** Paths of branches in the order of their elements. */
function branchesByStep(run: Run): ReadonlyMap<string, readonly string[]> {
  const byStep = new Map<string, Array<{ path: string; index: number }>>();
  for (const path of run.steps.keys()) {
    const branch = branchOf(path);
    if (!branch) continue;
    const paths = byStep.get(branch.step) ?? [];
    paths.push({ path, index: branch.index });
    byStep.set(branch.step, paths);
  }
  return new Map(
    [...byStep].map(([step, paths]) => [
      step,
      paths.toSorted((one, other) => one.index - other.index).map(({ path }) => path),
    ]),
  );
}

function view(run: Run, path: string, action: Action | undefined): StepViewInit[] {
  const step = run.steps.get(path);
  if (!step) return [];
  const waiting = step.status === StepStatus.WAITING && action ? waitingView(run.id, path, step, action) : undefined;
  return [
    {
      id: path,
      cell: stepCell(step),
      ...(waiting && { waiting }),
      ...(step.child !== undefined && { child: runName(step.child) }),
    },
  ];
}

function waitingView(run: RunId, path: string, step: StepState, action: Action): WaitingInit | undefined {
  const until = step.dueMs > 0 ? { until: timestampFromMs(step.dueMs) } : {};
  switch (action.kind) {
    case 'sub_flow':
      return step.child === undefined ? undefined : { what: { case: 'child', value: runName(step.child) } };
    case 'wait':
      if (action.what.kind !== 'signal') return undefined;
      return { what: { case: 'signal', value: action.what.name }, ...until };
    case 'callback':
      return { what: { case: 'token', value: callKey(run, path, step.round) }, ...until };
    case 'for_each': {
      if (!step.branches) return undefined;
      const { count: all, done, failed } = step.branches;
      return { what: { case: 'branches', value: { all, done: countBits(done), failed: countBits(failed) } } };
    }
    default:
      return undefined;
  }
}

function stepCell(step: StepState): MessageInitShape<typeof StepCellSchema> {
  const { status, round, attempts, losses, declines, code, message, reason, child, childOutcome, branches } = step;
  return {
    ...{ status, round, attempts, losses, declines, message, reason },
    ...(code === undefined ? {} : { code }),
    startedMs: BigInt(step.startedMs),
    endedMs: BigInt(step.endedMs),
    dueMs: BigInt(step.dueMs),
    chosen: [...step.chosen],
    ...(child === undefined ? {} : { child }),
    ...(childOutcome === undefined ? {} : { childOutcome }),
    ...(branches && { branches }),
  };
}
