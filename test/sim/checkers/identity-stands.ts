// What a run was created with never changes: who it is, its inputs, its place in its level, who started it, the version of its flow,
// which had been released by then, or which its parent's flow names. Only an event that asks for it changes its level or its version.

import { type Control, inputWriter, splitFieldKey } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { consumedBy, type MakeChecker } from './checker.ts';

const forEver = ['business', 'flow', 'generation', 'order', 'createdMs', 'inputBytes'] as const satisfies ReadonlyArray<
  keyof Control
>;

export const identityStands: MakeChecker = (subject, report) => {
  const released = new Set<string>();
  const checkCreation = (name: string, { flow, flowVersion, parent }: Control) => {
    // What a child follows is looked at where its parent is.
    if (!parent && !released.has(`${flow} ${flowVersion}`))
      report(`${name} is pinned to version ${flowVersion}, never released`);
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
      if (JSON.stringify(was.parent) !== JSON.stringify(is.parent)) report(`${name}: its parent changed`);
      if (Buffer.compare(was.rowKey ?? was.itemKey, is.rowKey ?? is.itemKey) !== 0)
        report(`${name}: its row key changed`);
      const consumed = consumedBy(record.changes, subject);
      if (was.flowVersion !== is.flowVersion && !consumed.some((kind) => movesTo(kind, is.flowVersion)))
        report(`${name}: its version was ${was.flowVersion} and is ${is.flowVersion}, unasked`);
      const asked = consumed.some((kind) => kind.case === 'level');
      if (was.level !== is.level && !asked) report(`${name}: its level changed to ${is.level} unasked`);
      if (was.superseded && !is.superseded) report(`${name} was superseded and isn't any more`);
    },
  };
};

function movesTo(kind: InboxEvent['kind'], version: number): boolean {
  return (kind.case === 'retry' || kind.case === 'rewind') && kind.value.flowVersion === version;
}
