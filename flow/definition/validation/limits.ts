// Sizes, counts and times of a flow.

import { toBinary } from '@bufbuild/protobuf';
import { type Call, ExitState, FlowSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { printDuration } from '../duration.ts';
import { flowLimits } from '../limits.ts';
import type { Report } from '../problem.ts';
import type { RuleId } from '../rules.ts';
import { type RuleGroup, stepPath } from './view.ts';

export const limits: RuleGroup = (view, report) => {
  const { flow } = view;
  const between = (rule: RuleId, path: string, count: number, least: number, most: number, what: string): void => {
    if (count >= least && count <= most) return;
    report(
      rule,
      path,
      `found ${count} ${what}; ${least === 0 ? `at most ${most}` : `${least} to ${most}`} are allowed`,
    );
  };
  const bytes = toBinary(FlowSchema, flow).length;
  between('limits.flow-size', '', bytes, 0, flowLimits.maxFlowBytes, 'bytes in the stored form');
  between(
    'limits.description',
    'description',
    flow.description.length,
    0,
    flowLimits.maxDescriptionCharacters,
    'characters',
  );
  between('limits.steps', 'steps', flow.steps.length, 1, flowLimits.maxSteps, 'steps');
  between('limits.fields', 'fields', flow.fields.length, 0, flowLimits.maxFields, 'fields');
  between('limits.exit-calls', 'on_exit', flow.onExit.length, 0, flowLimits.maxExitCalls, 'exit calls');
  for (const step of flow.steps) {
    const { kind } = step;
    const path = stepPath(step.id);
    if (kind.case === 'switch') {
      between('limits.cases', `${path}.switch`, kind.value.cases.length, 1, flowLimits.maxCases, 'cases');
    }
    if (kind.case === 'inline') {
      const most = flowLimits.maxFieldsPerCall;
      between('limits.assignments', `${path}.inline`, kind.value.set.length, 1, most, 'fields');
    }
    if (kind.case === undefined) report('shape.kind', path, 'a step is a call, a switch or an inline computation');
  }
  const most = flowLimits.maxFieldsPerCall;
  for (const { call, path } of view.calls) {
    between('limits.fields', `${path}.send`, call.send.length, 0, most, 'fields');
    between('limits.fields', `${path}.receive`, call.receive.length, 0, most, 'fields');
  }
  flow.onExit.forEach((exit, index) => {
    const path = `on_exit[${index}]`;
    if (exit.when.length === 0 || exit.when.includes(ExitState.UNSPECIFIED)) {
      report('shape.word', `${path}.when`, 'an exit call names the states it is made in: SUCCEEDED, FAILED, CANCELLED');
    }
    if (!exit.call) report('shape.required', path, "an exit call needs the key 'call'");
  });
  checkTimes(view, report);
};

const checkTimes: RuleGroup = ({ flow, calls }, report) => {
  const { deadlineMs } = flow;
  const maxDeadlineMs = BigInt(flowLimits.maxDeadlineMs);
  if (deadlineMs < 1n || deadlineMs > maxDeadlineMs) {
    report('limits.deadline', 'deadline', `found ${shown(deadlineMs)}; allowed is 1ms to ${shown(maxDeadlineMs)}`);
    return;
  }
  for (const { call, path, isExit } of calls) {
    // Exit calls come after the end of the run: they have a deadline of the engine's own.
    checkCall(report, path, call, isExit ? maxDeadlineMs : deadlineMs);
  }
};

function checkCall(report: Report, path: string, call: Call, longestMs: bigint): void {
  const { timeoutMs, retry, maxLosses } = call;
  if (timeoutMs < 1n || timeoutMs > longestMs) {
    const message = `found ${shown(timeoutMs)}; allowed is 1ms to ${shown(longestMs)}, the deadline of the flow`;
    report('limits.timeout', `${path}.timeout`, message);
  }
  if (maxLosses < 1 || maxLosses > flowLimits.maxLosses) {
    report('limits.losses', `${path}.max_losses`, `found ${maxLosses}; allowed is 1 to ${flowLimits.maxLosses}`);
  }
  if (!retry) {
    report('shape.required', `${path}.retry`, 'a call needs a retry policy');
    return;
  }
  if (retry.tries < 1 || retry.tries > flowLimits.maxTries) {
    report('limits.tries', `${path}.retry.tries`, `found ${retry.tries}; allowed is 1 to ${flowLimits.maxTries}`);
  }
  if (retry.maxMs < 1n || retry.maxMs > longestMs) {
    const message = `found ${shown(retry.maxMs)}; allowed is 1ms to ${shown(longestMs)}, the deadline of the flow`;
    report('limits.backoff', `${path}.retry.max`, message);
  } else if (retry.firstMs < 1n || retry.firstMs > retry.maxMs) {
    const message = `found ${shown(retry.firstMs)}; allowed is 1ms to ${shown(retry.maxMs)}, the longest pause`;
    report('limits.backoff', `${path}.retry.first`, message);
  }
}

function shown(durationMs: bigint): string {
  return printDuration(Number(durationMs));
}
