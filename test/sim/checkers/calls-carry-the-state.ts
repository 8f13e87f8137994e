// A module hears of a call what the store has for it: the key of the item that began it
// all, the step, the values that the step reads, as they stood when the call was performed, and the one key of the step and round.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { CallHappening, SeenRequest } from '../world/history.ts';
import { elementOf } from './branches.ts';
import { type Case, callOf, type MakeChecker, type RunView } from './checker.ts';
import { read } from './flow-rules.ts';

export const callsCarryTheState: MakeChecker = ({ planOfRun }, report) => {
  /** What each call has to say, by its number. Of a holder that has lost the run nobody knows any more what it read. */
  const expected = new Map<number, ReadonlyMap<string, string>>();
  /** The key of the item that each run serves: that of the run which started it. */
  const rowKeys = new Map<RunId, string>();
  return {
    see(record, before, after) {
      if (record.kind === 'write' && record.operation === 'create' && record.result === 'done' && after) {
        const { parent, itemKey } = after.control;
        const own = Buffer.from(itemKey).toString('latin1');
        rowKeys.set(record.run, parent ? (rowKeys.get(parent.run) ?? '') : own);
      }
      if (record.kind === 'call' && before?.fence.epoch === record.epoch) {
        expected.set(record.number, valuesFor(before, record.step, planOfRun));
      }
      if (record.kind !== 'receipt') return;
      const { call, request } = record;
      const wrong = wrongIn(call, request, rowKeys.get(call.run), expected.get(call.number));
      if (wrong) report(`${printableRun(call.run)} ${call.step}: ${record.endpoint} was sent ${wrong}`);
    },
  };
};

function valuesFor(run: RunView, step: string, planOfRun: Case['planOfRun']): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const plan = planOfRun(run);
  const element = elementOf(plan, step, run);
  if (element) values.set(...element);
  for (const reading of callOf(plan, step)?.send ?? []) {
    const value = read(run, reading);
    if (value) values.set(reading.name, Buffer.from(value.bytes).toString('latin1'));
  }
  return values;
}

function wrongIn(
  call: CallHappening,
  request: SeenRequest,
  rowKey: string | undefined,
  fields: ReadonlyMap<string, string> | undefined,
): string | undefined {
  if (request.rowkey !== rowKey) return `row key ${request.rowkey}`;
  if (request.step !== call.step) return `step ${request.step}`;
  if (request.attempt !== call.attempt || request.epoch !== call.epoch)
    return `attempt ${request.attempt} of epoch ${request.epoch}, asked was ${call.attempt} of ${call.epoch}`;
  if (request.callKey !== call.callKey) return `key ${request.callKey}, asked was ${call.callKey}`;
  if (!fields) return undefined;
  if (fields.size !== request.fields.size) return `fields ${[...request.fields.keys()].join()}`;
  for (const [name, value] of fields) {
    if (request.fields.get(name) !== value) return `${name}=${request.fields.get(name)}, stored is ${value}`;
  }
  return undefined;
}
