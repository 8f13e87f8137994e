// What is stored as a step's output is what a module answered to a call of this step, in this round, made by the holder that stored it;
// of work that a callback asks for, what came in as its later answer.

import { branchOf } from '../../../flow/branch-path.ts';
import type { CallAction } from '../../../flow/plan.ts';
import { type FieldValue, fieldKey, type StepState, splitFieldKey } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Ending, type InboxEvent, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { DeliveryHappening, WriteHappening } from '../world/history.ts';
import { resultOf } from './branches.ts';
import { actionAt, callOf, consumedBy, type MakeChecker, type RunView } from './checker.ts';

type Values = ReadonlyMap<string, string>;

export const realOutputs: MakeChecker = (subject, report) => {
  /** Fields of successful answers, by `run step round epoch`. */
  const answers = new Map<string, Values[]>();
  const noteAnswer = ({ call, fields }: DeliveryHappening) => {
    const name = `${call.run} ${call.step} ${call.round} ${call.epoch}`;
    answers.set(name, [...(answers.get(name) ?? []), fields]);
  };

  const checkWrite = (record: WriteHappening, before: RunView | undefined, after: RunView) => {
    const { run, changes } = record;
    const plan = subject.planOfWrite(before, after);
    const wrong = (id: string, values: string) =>
      report(`${printableRun(run)} ${id} is DONE with ${values}, which nobody answered to ${record.process}`);
    for (const [id, state] of changes.steps) {
      const call = callOf(plan, id);
      const ended = endedHere(id, state, before);
      if (!call || !ended) continue;
      const given = answers.get(`${run} ${id} ${ended.round} ${after.fence.epoch}`) ?? [];
      if (branchOf(id)) {
        const result = changes.fields.get(fieldKey(id, 'result'));
        const isReal = given.some(
          (fields) => resultOf(plan, call.receive, (name) => fields.get(name)) === textOf(result),
        );
        if (result && !isReal) wrong(id, textOf(result));
        continue;
      }
      const outputs = outputsOf(id, changes.fields);
      const isCallback = actionAt(plan, id)?.kind === 'callback';
      const real = isCallback ? laterAnswers(consumedBy(changes, subject), id, ended.round) : given;
      if (!real.some((fields) => isSame(call, fields, outputs)))
        wrong(id, [...outputs].map(([name, value]) => `${name}=${value}`).join(', '));
    }
  };

  return {
    see(record, before, after) {
      if (record.kind === 'delivery' && record.ending === Ending.SUCCEEDED) noteAnswer(record);
      if (record.kind === 'write' && record.result === 'done' && after) checkWrite(record, before, after);
    },
  };
};

/** The state of a call that this write ended: of a branch that is dealt with nothing but its result is left. */
function endedHere(id: string, state: StepState | null, before: RunView | undefined): StepState | undefined {
  if (state === null) return branchOf(id) && before?.steps.get(id);
  return state.status === StepStatus.DONE ? state : undefined;
}

function laterAnswers(consumed: ReadonlyArray<InboxEvent['kind']>, id: string, round: number): Values[] {
  return consumed.flatMap((kind) => {
    if (kind.case !== 'completed' || kind.value.step !== id || kind.value.round !== round) return [];
    if (kind.value.ending !== Ending.SUCCEEDED) return [];
    const fields = Object.entries(kind.value.fields);
    return [new Map(fields.map(([name, { value }]) => [name, Buffer.from(value).toString('latin1')]))];
  });
}

function isSame({ receive }: CallAction, fields: Values, outputs: Values): boolean {
  return [...receive].every((name) => fields.get(name) === outputs.get(name));
}

function outputsOf(step: string, fields: ReadonlyMap<string, FieldValue | null>): Map<string, string> {
  const outputs = new Map<string, string>();
  for (const [key, value] of fields) {
    const { writer, name } = splitFieldKey(key);
    if (writer === step && value) outputs.set(name, textOf(value));
  }
  return outputs;
}

function textOf(value: FieldValue | null | undefined): string {
  return Buffer.from(value?.bytes ?? []).toString('latin1');
}
