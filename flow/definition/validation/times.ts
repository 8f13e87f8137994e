// Times of a flow, all within its deadline, and how often a call is made.

import { type Call, OnTimeout, type Wait } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { printDuration } from '../duration.ts';
import { flowLimits } from '../limits.ts';
import type { Report } from '../problem.ts';
import type { RuleId } from '../rules.ts';
import { type RuleGroup, stepPath } from './view.ts';

export const times: RuleGroup = ({ flow, calls }, report) => {
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
  for (const { id, kind } of flow.steps) {
    if (kind.case === 'wait') checkWait(report, `${stepPath(id)}.wait`, kind.value, deadlineMs);
    if (kind.case !== 'callback') continue;
    checkDuration(
      report,
      'limits.answer-within',
      `${stepPath(id)}.answer_within`,
      kind.value.answerWithinMs,
      deadlineMs,
    );
  }
};

function checkWait(report: Report, path: string, { what }: Wait, deadlineMs: bigint): void {
  if (what.case === 'forMs') checkDuration(report, 'limits.wait', `${path}.for`, what.value, deadlineMs);
  if (what.case !== 'signal') return;
  const { timeoutMs, onTimeout } = what.value;
  if (timeoutMs > 0n) checkDuration(report, 'limits.timeout', `${path}.timeout`, timeoutMs, deadlineMs);
  if (timeoutMs === 0n && onTimeout === OnTimeout.PASS) {
    const message = 'a signal without a timeout is awaited until the deadline, at which the run fails';
    report('references.on-timeout', `${path}.on_timeout`, message);
  }
  if (onTimeout === OnTimeout.UNSPECIFIED) {
    report('shape.word', `${path}.on_timeout`, 'a wait for a signal says what a timeout does: fail, pass');
  }
}

function checkCall(report: Report, path: string, call: Call, longestMs: bigint): void {
  const { timeoutMs, retry, maxLosses } = call;
  checkDuration(report, 'limits.timeout', `${path}.timeout`, timeoutMs, longestMs);
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
  const isLongestGood = checkDuration(report, 'limits.backoff', `${path}.retry.max`, retry.maxMs, longestMs);
  if (isLongestGood && (retry.firstMs < 1n || retry.firstMs > retry.maxMs)) {
    const message = `found ${shown(retry.firstMs)}; allowed is 1ms to ${shown(retry.maxMs)}, the longest pause`;
    report('limits.backoff', `${path}.retry.first`, message);
  }
}

function checkDuration(report: Report, rule: RuleId, path: string, durationMs: bigint, longestMs: bigint): boolean {
  const isGood = durationMs >= 1n && durationMs <= longestMs;
  if (!isGood) {
    const message = `found ${shown(durationMs)}; allowed is 1ms to ${shown(longestMs)}, the deadline of the flow`;
    report(rule, path, message);
  }
  return isGood;
}

function shown(durationMs: bigint): string {
  return printDuration(Number(durationMs));
}
