// `weir run signal` and `complete`.

import { randomIds } from '../../platform/ids/random-ids.ts';
import { ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { printRun, type RunArgument } from '../run-argument.ts';
import { askRun } from './ask-run.ts';

export interface SaidFields {
  /** Text by name. */
  readonly field: ReadonlyMap<string, string>;
}

export interface CompleteOptions extends SaidFields {
  /** Name of a return code. */
  readonly code: string;
  readonly message: string;
}

export function signalRun(
  run: RunArgument,
  signal: string,
  said: SaidFields,
  address: string,
  printer: Printer,
): Promise<void> {
  return askRun(printRun(run), 'signal', address, printer, (runs, requestId) =>
    runs.signal({ run, name: signal, fields: fieldsOf(said), requestId }, callOptions),
  );
}

export async function completeCall(
  token: string,
  { code, message, ...said }: CompleteOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  const request = { token, code: ReturnCode[code as keyof typeof ReturnCode], message, fields: fieldsOf(said) };
  const requestId = randomIds().next();
  await askEngine(Runs, address, (runs) => runs.complete({ ...request, requestId }, callOptions));
  printer.line(printer.json ? toJson({ token, answered: code }) : `${token}: the answer is given`);
}

function fieldsOf({ field }: SaidFields) {
  const encoder = new TextEncoder();
  return [...field].map(([name, value]) => ({ key: encoder.encode(name), value: encoder.encode(value) }));
}
