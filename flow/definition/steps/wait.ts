// A step that waits: for a while, until a time, or for a signal.

import { create } from '@bufbuild/protobuf';
import {
  OnTimeout,
  type Signal,
  SignalSchema,
  type Wait,
  WaitSchema,
} from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import type { Report } from '../problem.ts';
import {
  type Located,
  type Members,
  oneKeyOf,
  readDuration,
  readExpression,
  readMembers,
  readNames,
  readText,
  readWord,
} from '../reader.ts';

export const waitKeys = ['wait'] as const;
/** What is waited for. */
export const waitKinds = ['for', 'until', 'signal'] as const;
export const signalKeys = ['signal', 'receive', 'timeout', 'on_timeout'] as const;
const allKeys = ['for', 'until', ...signalKeys] as const;

/** The first is the default. */
export const onTimeoutWords: ReadonlyMap<string, OnTimeout> = new Map([
  ['fail', OnTimeout.FAIL],
  ['pass', OnTimeout.PASS],
]);

const waitNames = { for: 'a wait for a time', until: 'a wait until a time', signal: 'a wait for a signal' } as const;

export function readWait(report: Report, { wait }: Members<(typeof waitKeys)[number]>): Wait {
  const kind = wait && oneKeyOf(report, wait, waitKinds, 'a wait');
  if (!wait) return create(WaitSchema);
  switch (kind) {
    case 'for': {
      const members = readMembers(report, wait, ['for'], waitNames.for);
      return create(WaitSchema, { what: { case: 'forMs', value: readDuration(report, members.for, 0) } });
    }
    case 'until': {
      const members = readMembers(report, wait, ['until'], waitNames.until);
      return create(WaitSchema, { what: { case: 'until', value: readExpression(report, members.until) } });
    }
    case 'signal':
      return create(WaitSchema, { what: { case: 'signal', value: readSignal(report, wait) } });
    case undefined:
      readMembers(report, wait, allKeys, 'a wait');
      return create(WaitSchema);
  }
}

function readSignal(report: Report, wait: Located): Signal {
  const { signal, receive, timeout, on_timeout: onTimeout } = readMembers(report, wait, signalKeys, waitNames.signal);
  const timeoutMs = readDuration(report, timeout, 0);
  // In a stored flow, 0 means that there is none.
  if (timeout && timeoutMs === 0n) report('limits.timeout', timeout.path, 'found 0ms; a timeout is 1ms or more');
  return create(SignalSchema, {
    name: (signal && readText(report, signal, 'the name of a signal')) ?? '',
    receive: readNames(report, receive, 'field names'),
    timeoutMs,
    onTimeout: (onTimeout && readWord(report, onTimeout, onTimeoutWords, 'on_timeout')) ?? OnTimeout.FAIL,
  });
}
