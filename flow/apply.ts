// Changes become state: the only place where a Run is written.
//
// Ownership: the caller hands `run` over and goes on with what comes back; the maps inside are reused, so that the cost of a
// change doesn't grow with the size of the run.

import type { Changes } from './change.ts';
import type { FieldValue, Run, StepState } from './run.ts';

export function apply(run: Run, changes: Changes): Run {
  const steps = run.steps as Map<string, StepState>;
  const fields = run.fields as Map<string, FieldValue>;
  for (const [id, state] of changes.steps) {
    if (state === null) steps.delete(id);
    else steps.set(id, state);
  }
  for (const [key, value] of changes.fields) {
    if (value === null) fields.delete(key);
    else fields.set(key, value);
  }
  return { id: run.id, control: changes.control ?? run.control, steps, fields };
}
