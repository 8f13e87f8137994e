// What is stored as a step's output is what a module answered to a call of this step, in this round, made by the holder that
// stored it.

import { type FieldValue, splitFieldKey } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Ending, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { DeliveryHappening } from '../world/history.ts';
import { callOf, type MakeChecker, writtenSteps } from './checker.ts';

export const realOutputs: MakeChecker = ({ planOf }, report) => {
  /** Successful answers, by `run step round epoch`. */
  const answers = new Map<string, DeliveryHappening[]>();
  return {
    see(record, _before, after) {
      if (record.kind === 'delivery' && record.ending === Ending.SUCCEEDED) {
        const { run, step, round, epoch } = record.call;
        const name = `${run} ${step} ${round} ${epoch}`;
        answers.set(name, [...(answers.get(name) ?? []), record]);
      }
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const plan = planOf(after.control.flow, after.control.flowVersion);
      for (const [id, { status, round }] of writtenSteps(record.changes)) {
        const call = callOf(plan, id);
        if (status !== StepStatus.DONE || !call) continue;
        const outputs = outputsOf(id, record.changes.fields);
        const given = answers.get(`${record.run} ${id} ${round} ${after.fence.epoch}`) ?? [];
        const isReal = given.some(({ fields }) =>
          [...call.receive].every((name) => fields.get(name) === outputs.get(name)),
        );
        if (isReal) continue;
        const shown = [...outputs].map(([name, value]) => `${name}=${value}`).join(', ');
        report(
          `${printableRun(record.run)} ${id} is DONE with ${shown}, which no module answered to ${record.process}`,
        );
      }
    },
  };
};

function outputsOf(step: string, fields: ReadonlyMap<string, FieldValue | null>): Map<string, string> {
  const outputs = new Map<string, string>();
  for (const [key, value] of fields) {
    const { writer, name } = splitFieldKey(key);
    if (writer === step && value) outputs.set(name, Buffer.from(value.bytes).toString('latin1'));
  }
  return outputs;
}
