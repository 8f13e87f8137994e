// A run as commands print it.

import { Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { FieldView, Run } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { enumName, type PrintedBytes, printedBytes, printedTime } from '../output/text.ts';
import { printRun } from '../run-argument.ts';

/** The name of a run, to be given to other commands. */
export function runText({ name }: Run): string {
  return name ? printRun(name) : '';
}

/** `FAILED (EXHAUSTED)` */
export function stateText({ status }: Run): string {
  const state = enumName(State, status?.state ?? 0);
  const reason = enumName(Reason, status?.reason ?? 0);
  return reason === '' ? state : `${state} (${reason})`;
}

/** What all JSON of a run begins with. */
export function runJson(run: Run) {
  const { name, status } = run;
  return {
    run: runText(run),
    business: name?.business,
    flow: name?.flow,
    key: printedBytes(name?.key ?? new Uint8Array()),
    generation: name?.generation,
    state: enumName(State, status?.state ?? 0),
    reason: enumName(Reason, status?.reason ?? 0),
    detail: status?.detail ?? '',
    activity: run.activity,
    since: printedTime(run.since),
  };
}

/** The value of a field, or where it is kept. */
export function fieldJson({ cell }: FieldView): PrintedBytes | { readonly reference: unknown } {
  const reference = cell?.reference;
  if (!reference) return printedBytes(cell?.value ?? new Uint8Array());
  const { hash, size, location } = reference;
  return { reference: { hash: Buffer.from(hash ?? []).toString('hex'), size: Number(size ?? 0n), location } };
}
