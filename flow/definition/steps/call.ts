// A step that calls a module. Callbacks, branches of a list and exit calls are written with the same keys.

import { create } from '@bufbuild/protobuf';
import { type Call, CallSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowDefaults } from '../limits.ts';
import type { Report } from '../problem.ts';
import { type Located, type Members, readCount, readDuration, readMembers, readNames, readText } from '../reader.ts';

/** How a call is made, whatever is called. */
export const callOptionKeys = ['send', 'receive', 'timeout', 'retry', 'max_losses'] as const;
export const callKeys = ['call', ...callOptionKeys] as const;
export const retryKeys = ['tries', 'first', 'max'] as const;

type CallOptionKey = (typeof callOptionKeys)[number];

/** The module that stands at `located`; empty when it can't be read. */
export function readModule(report: Report, located: Located | undefined): string {
  return (located && readText(report, located, 'the module of a call')) ?? '';
}

/** Reads how `module` is called, which may be an address. `longestMs` is the time that the run has: no default is longer. */
export function readCall(report: Report, module: string, options: Members<CallOptionKey>, longestMs: bigint): Call {
  const retry = options.retry ? readMembers(report, options.retry, retryKeys, 'retry') : {};
  const atMost = (defaultMs: number): number => Math.min(defaultMs, Number(longestMs));
  const firstMs = readDuration(report, retry.first, atMost(flowDefaults.firstBackoffMs));
  // What the author says of one pause moves the default of the other.
  const maxMs = readDuration(report, retry.max, Math.max(atMost(flowDefaults.maxBackoffMs), Number(firstMs)));
  return create(CallSchema, {
    module,
    send: readNames(report, options.send, 'field names'),
    receive: readNames(report, options.receive, 'field names'),
    timeoutMs: readDuration(report, options.timeout, atMost(flowDefaults.timeoutMs)),
    retry: {
      tries: readCount(report, retry.tries, flowDefaults.tries),
      firstMs: retry.first || firstMs < maxMs ? firstMs : maxMs,
      maxMs,
    },
    maxLosses: readCount(report, options.max_losses, flowDefaults.maxLosses),
  });
}
