// A step is called with one key per round, no more often than tries + maxLosses + answers that declined.

import type { CallAction } from '../../../flow/plan.ts';
import { isDeclined } from '../../../flow/return-code.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { CallHappening } from '../world/history.ts';
import { callOf, type MakeChecker, writtenSteps } from './checker.ts';

export const callsWithinBounds: MakeChecker = ({ planOfWrite }, report) => {
  /** By run, step and round. */
  const rounds = new Map<string, { readonly first: CallHappening; delivered: number; declined: number }>();
  const keys = new Map<string, string>();
  /** What each round may do, by the version that the run had when the round began: a retry may move it to another. */
  const actions = new Map<string, CallAction>();

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

  return {
    see(record, before, after) {
      if (record.kind === 'write' && record.result === 'done' && after) {
        const plan = planOfWrite(before, after);
        for (const [id, { status, round }] of writtenSteps(record.changes)) {
          const action = status === StepStatus.RUNNING ? callOf(plan, id) : undefined;
          if (action) actions.set(`${record.run} ${id} ${round}`, action);
        }
      }
      if (record.kind === 'call') called(record);
      // What the network made two of was called once.
      if (record.kind === 'receipt' && !record.isCopy) called(record.call).delivered++;
      if (record.kind === 'delivery' && isDeclined(record.ending)) called(record.call).declined++;
    },
    end() {
      for (const [name, { first, delivered, declined }] of rounds) {
        const action = actions.get(name);
        if (!action) report(`${show(first)}: its flow has no such call`);
        else if (delivered > action.tries + action.maxLosses + declined) {
          const most = `${action.tries} tries + ${action.maxLosses} losses + ${declined} that declined`;
          report(`${show(first)}: ${delivered} calls were delivered, allowed are ${most}`);
        }
      }
    },
  };
};

function show({ run, step, round }: CallHappening): string {
  return `${printableRun(run)} ${step} round ${round}`;
}
