// Replaying all accepted changes gives exactly the runs that the store has in the end: control data, steps and fields, cell by cell.

import { printableRun } from '../../../flow/run-id.ts';
import { encodeControl, encodeField, encodeStep } from '../../../store/codec.ts';
import type { MakeChecker, RunView } from './checker.ts';

export const replayGivesTheStore: MakeChecker = ({ stored }, report) => ({
  see() {},
  end(runs) {
    for (const [run, replayed] of runs) {
      const found = stored.get(run);
      const name = printableRun(run);
      if (!found) {
        report(`${name} was created and is not in the store`);
        continue;
      }
      const [here, there] = [cellsOf(replayed), cellsOf(found)];
      for (const cell of new Set([...here.keys(), ...there.keys()])) {
        if (here.get(cell) === there.get(cell)) continue;
        report(`${name}: its ${cell} in the store isn't what the accepted writes make of it`);
      }
    }
    for (const run of stored.keys())
      if (!runs.has(run)) report(`${printableRun(run)} is in the store, and nobody wrote it`);
  },
});

/** All cells as bytes: what the store has went through them once, and a value that they don't keep shows. */
function cellsOf({
  fence,
  control,
  steps,
  fields,
}: Pick<RunView, 'fence' | 'control' | 'steps' | 'fields'>): Map<string, string> {
  const cells = new Map([['fence', `${fence.epoch}.${fence.version}`]]);
  const set = (name: string, bytes: Uint8Array) => cells.set(name, Buffer.from(bytes).toString('latin1'));
  set('control', encodeControl(control));
  for (const [id, step] of steps) set(`step ${id}`, encodeStep(step));
  for (const [key, value] of fields) set(`field ${key}`, encodeField(value));
  return cells;
}
