// What a run was created with never changes: who it is, its inputs, its place in its level, the version of its flow, which had been
// released by then. Only an event that asks for it changes its level.

import { type Control, inputWriter, splitFieldKey } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { MakeChecker } from './checker.ts';

const forEver = [
  'business',
  'flow',
  'generation',
  'flowVersion',
  'order',
  'createdMs',
  'inputBytes',
] as const satisfies ReadonlyArray<keyof Control>;

export const identityStands: MakeChecker = ({ events }, report) => {
  const released = new Set<string>();
  const checkCreation = (name: string, { flow, flowVersion }: Control) => {
    if (!released.has(`${flow} ${flowVersion}`)) report(`${name} is pinned to version ${flowVersion}, never released`);
  };
  return {
    see(record, before, after) {
      if (record.kind === 'flow' && record.what === 'released') released.add(`${record.flow} ${record.version}`);
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const name = printableRun(record.run);
      if (record.operation === 'create') return checkCreation(name, after.control);
      if (!before) return;
      const [was, is] = [before.control, after.control];
      for (const key of forEver)
        if (was[key] !== is[key]) report(`${name}: its ${key} was ${was[key]} and is ${is[key]}`);
      if (Buffer.compare(was.itemKey, is.itemKey) !== 0) report(`${name}: its key changed`);
      if (Buffer.compare(was.creationHash, is.creationHash) !== 0) report(`${name}: its creation hash changed`);
      for (const key of record.changes.fields.keys()) {
        if (splitFieldKey(key).writer === inputWriter) report(`${name}: ${key} was written again`);
      }
      const asked = record.changes.consumed.some((id) => events.get(id)?.kind.case === 'level');
      if (was.level !== is.level && !asked) report(`${name}: its level changed to ${is.level} unasked`);
      if (was.superseded && !is.superseded) report(`${name} was superseded and isn't any more`);
    },
  };
};
