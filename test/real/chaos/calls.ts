// The modules' ledger, put in order: every call key with what was received and answered under it.

import { ReturnCode } from '../../../proto/gen/weir/module/v1/module_pb.js';
import type { LedgerLine } from './ledger.ts';

export interface CallsOfKey {
  readonly step: string;
  received: number;
  /** Answers that declined. */
  declined: number;
  /** When the last one was received, in ms since 1970. */
  lastMs: number;
  /** Outputs that were answered with success: values by name, as one text (`textOf`). */
  readonly succeeded: Set<string>;
}

/** By item key, then by call key. */
export type Calls = ReadonlyMap<string, ReadonlyMap<string, CallsOfKey>>;

export function arrange(lines: Iterable<LedgerLine>): Calls {
  const calls = new Map<string, Map<string, CallsOfKey>>();
  for (const line of lines) {
    const ofItem = calls.get(line.key) ?? new Map<string, CallsOfKey>();
    calls.set(line.key, ofItem);
    const ofKey = ofItem.get(line.callKey) ?? {
      ...{ step: line.step, received: 0, declined: 0, lastMs: 0 },
      succeeded: new Set<string>(),
    };
    ofItem.set(line.callKey, ofKey);
    note(ofKey, line);
  }
  return calls;
}

function note(calls: CallsOfKey, { event, atMs, code, outputs }: LedgerLine): void {
  if (event === 'received') {
    calls.received++;
    calls.lastMs = Math.max(calls.lastMs, atMs);
  } else if (code === ReturnCode.SVR_OVER_LOAD) calls.declined++;
  else if (code === ReturnCode.SUCC) calls.succeeded.add(textOf(outputs ?? {}));
}

/** The same for the same values, in whichever order they came. */
export function textOf(outputs: Readonly<Record<string, string>>): string {
  return JSON.stringify(outputs, Object.keys(outputs).sort());
}
