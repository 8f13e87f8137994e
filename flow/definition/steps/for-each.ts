// A step that does the same for every element of a list: a call or another flow.

import { create } from '@bufbuild/protobuf';
import { type ForEach, ForEachSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowDefaults } from '../limits.ts';
import type { Report } from '../problem.ts';
import {
  type Located,
  type Members,
  oneKeyOf,
  readCount,
  readCountOrWord,
  readExpression,
  readText,
  requireKeys,
} from '../reader.ts';
import { callKeys, readCall, readModule } from './call.ts';
import { readSubFlow, subFlowKeys } from './sub-flow.ts';

/** What is done for an element. */
export const branchKinds = ['call', 'sub_flow'] as const;
const ownKeys = ['for_each', 'as', 'into', 'concurrency', 'max_failures'] as const;
const allKeys = [...ownKeys, ...callKeys, 'sub_flow', 'version'] as const;

/** As many branches may fail as there are. */
export const everyBranchFailures = 2 ** 32 - 1;

export const maxFailuresWords: ReadonlyMap<string, number> = new Map([['all', everyBranchFailures]]);

/** The keys of a step around a list, by what it does for an element. */
export function forEachKeysOf(kind: (typeof branchKinds)[number] | undefined) {
  switch (kind) {
    case 'call':
      return [...ownKeys, ...callKeys] as const;
    case 'sub_flow':
      return [...ownKeys, ...subFlowKeys] as const;
    case undefined:
      return allKeys;
  }
}

/** What a step around a list does for an element; undefined, and reported, when it is neither or both. */
export function branchKindOf(report: Report, located: Located): (typeof branchKinds)[number] | undefined {
  return oneKeyOf(report, located, branchKinds, 'a for_each step');
}

export function readForEach(
  report: Report,
  located: Located,
  members: Members<(typeof allKeys)[number]>,
  longestMs: bigint,
): ForEach {
  requireKeys(report, located, members, ['as', 'into'], 'a for_each step');
  return create(ForEachSchema, {
    over: readExpression(report, members.for_each),
    as: (members.as && readText(report, members.as, 'the name of an element')) ?? '',
    branch:
      members.call && !members.sub_flow
        ? { case: 'call', value: readCall(report, readModule(report, members.call), members, longestMs) }
        : members.sub_flow && !members.call
          ? { case: 'subFlow', value: readSubFlow(report, members) }
          : { case: undefined },
    into: (members.into && readText(report, members.into, 'the field of the results')) ?? '',
    concurrency: readCount(report, members.concurrency, flowDefaults.concurrency),
    maxFailures: readCountOrWord(report, members.max_failures, flowDefaults.maxFailures, maxFailuresWords),
  });
}
