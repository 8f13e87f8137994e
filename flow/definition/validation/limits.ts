// Sizes and counts of a flow, and kinds that a flow without a text may have left out.

import { toBinary } from '@bufbuild/protobuf';
import { ExitState, type Flow, FlowSchema, type Step } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowLimits } from '../limits.ts';
import type { Report } from '../problem.ts';
import type { RuleId } from '../rules.ts';
import { stepKindNames } from '../step-kinds.ts';
import { branchKinds, everyBranchFailures } from '../steps/for-each.ts';
import { waitKinds } from '../steps/wait.ts';
import { type RuleGroup, stepPath } from './view.ts';

type Between = (rule: RuleId, path: string, count: number, least: number, most: number, what: string) => void;

export const limits: RuleGroup = (view, report) => {
  const { flow } = view;
  const between: Between = (rule, path, count, least, most, what) => {
    if (count >= least && count <= most) return;
    const allowed = least === 0 ? `at most ${most}` : `${least} to ${most}`;
    report(rule, path, `found ${count} ${what}; ${allowed} are allowed`);
  };
  checkFlow(between, flow);
  for (const step of flow.steps) checkStep(between, report, step);
  const most = flowLimits.maxFieldsPerCall;
  for (const { path, send, receive } of view.exchanges) {
    between('limits.fields', `${path}.send`, send.length, 0, most, 'fields');
    between('limits.fields', `${path}.receive`, receive.length, 0, most, 'fields');
  }
  flow.onExit.forEach((exit, index) => {
    const path = `on_exit[${index}]`;
    if (exit.when.length === 0 || exit.when.includes(ExitState.UNSPECIFIED)) {
      report('shape.word', `${path}.when`, 'an exit call names the states it is made in: SUCCEEDED, FAILED, CANCELLED');
    }
    if (!exit.call) report('shape.required', path, "an exit call needs the key 'call'");
  });
};

function checkFlow(between: Between, flow: Flow): void {
  const { maxDescriptionCharacters } = flowLimits;
  const bytes = toBinary(FlowSchema, flow).length;
  between('limits.flow-size', '', bytes, 0, flowLimits.maxFlowBytes, 'bytes in the stored form');
  const characters = flow.description.length;
  between('limits.description', 'description', characters, 0, maxDescriptionCharacters, 'characters');
  between('limits.steps', 'steps', flow.steps.length, 1, flowLimits.maxSteps, 'steps');
  between('limits.fields', 'fields', flow.fields.length, 0, flowLimits.maxFields, 'fields');
  between('limits.exit-calls', 'on_exit', flow.onExit.length, 0, flowLimits.maxExitCalls, 'exit calls');
  const signals = new Set(
    flow.steps.flatMap(({ kind }) =>
      kind.case === 'wait' && kind.value.what.case === 'signal' ? [kind.value.what.value.name] : [],
    ),
  );
  between('limits.signals', 'steps', signals.size, 0, flowLimits.maxSignals, 'signals');
}

function checkStep(between: Between, report: Report, { id, kind }: Step): void {
  const path = stepPath(id);
  switch (kind.case) {
    case 'switch':
      between('limits.cases', `${path}.switch`, kind.value.cases.length, 1, flowLimits.maxCases, 'cases');
      return;
    case 'inline':
      between('limits.assignments', `${path}.inline`, kind.value.set.length, 1, flowLimits.maxFieldsPerCall, 'fields');
      return;
    case 'wait':
      if (kind.value.what.case === undefined) missingKey(report, `${path}.wait`, 'a wait', waitKinds);
      return;
    case 'callback':
      if (!kind.value.call) report('shape.required', path, 'a callback needs a call');
      return;
    case 'startFlow': {
      const { maxGenerations } = kind.value;
      const most = flowLimits.maxGenerations;
      between('limits.generations', `${path}.max_generations`, maxGenerations, 1, most, 'generations');
      return;
    }
    case 'forEach': {
      const { branch, concurrency, maxFailures } = kind.value;
      if (branch.case === undefined) missingKey(report, path, 'a for_each step', branchKinds);
      between('limits.concurrency', `${path}.concurrency`, concurrency, 1, flowLimits.maxConcurrency, 'branches');
      if (maxFailures === everyBranchFailures) return;
      between('limits.max-failures', `${path}.max_failures`, maxFailures, 0, flowLimits.maxBranches, 'branches');
      return;
    }
    case undefined:
      missingKey(report, path, 'a step', stepKindNames);
      return;
    // Their counts are those of their fields and of `after`.
    case 'call':
    case 'join':
    case 'subFlow':
      return;
  }
}

function missingKey(report: Report, path: string, what: string, keys: readonly string[]): void {
  report('shape.kind', path, `${what} has exactly one of the keys ${keys.join(', ')}, found none`);
}
