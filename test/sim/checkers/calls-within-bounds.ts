// A step is called with one key per round, no more often than tries + maxLosses + answers that declined; and a new round begins
// only when a retry or a release asks for it, and not for a step that is done.

import { isExitCall } from '../../../flow/exit-call.ts';
import { isDeclined } from '../../../flow/return-code.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { type InboxEvent, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { CallHappening, WriteHappening } from '../world/history.ts';
import { callOf, type MakeChecker, type RunView, writtenSteps } from './checker.ts';

export const callsWithinBounds: MakeChecker = ({ events, planOf }, report) => {
  /** By run, step and round. */
  const rounds = new Map<string, { readonly first: CallHappening; delivered: number; declined: number }>();
  const keys = new Map<string, string>();

  const called = (call: CallHappening) => {
    const name = `${call.run} ${call.step} ${call.round}`;
    const round = rounds.get(name) ?? { first: call, delivered: 0, declined: 0 };
    rounds.set(name, round);
    if (round.first.callKey !== call.callKey) {
      report(`${show(call)}: called with key ${call.callKey}, before with ${round.first.callKey}`);
    }
    const owner = keys.get(call.callKey) ?? name;
    keys.set(call.callKey, owner);
    if (owner !== name) report(`${show(call)}: its key ${call.callKey} is that of ${owner}`);
    return round;
  };

  const checkRounds = ({ run, changes }: WriteHappening, before: RunView) => {
    for (const [id, { round }] of writtenSteps(changes)) {
      const was = before.steps.get(id)?.round ?? 1;
      if (round === was) continue;
      if (before.steps.get(id)?.status === StepStatus.DONE && !isExitCall(id)) {
        report(`${printableRun(run)} ${id} was DONE and begins round ${round}`);
      }
      // One write may carry several ends, each with what follows.
      const asked = changes.consumed.filter((event) => asks(events.get(event))).length;
      if (round < was || round > was + asked)
        report(`${printableRun(run)} ${id}: round ${round} follows ${was} unasked`);
    }
  };

  return {
    see(record, before) {
      if (record.kind === 'write' && record.result === 'done' && before) checkRounds(record, before);
      if (record.kind === 'call') called(record);
      // What the network made two of was called once.
      if (record.kind === 'receipt' && !record.isCopy) called(record.call).delivered++;
      if (record.kind === 'delivery' && isDeclined(record.ending)) called(record.call).declined++;
    },
    end(runs) {
      for (const { first, delivered, declined } of rounds.values()) {
        const { flow = '', flowVersion = 0 } = runs.get(first.run)?.control ?? {};
        const call = callOf(planOf(flow, flowVersion), first.step);
        if (!call) report(`${show(first)}: no such call is in flow ${flow}`);
        else if (delivered > call.tries + call.maxLosses + declined) {
          const most = `${call.tries} tries + ${call.maxLosses} losses + ${declined} that declined`;
          report(`${show(first)}: ${delivered} calls were delivered, allowed are ${most}`);
        }
      }
    },
  };
};

function asks(event: InboxEvent | undefined): boolean {
  return event?.kind.case === 'retry' || event?.kind.case === 'release';
}

function show({ run, step, round }: CallHappening): string {
  return `${printableRun(run)} ${step} round ${round}`;
}
