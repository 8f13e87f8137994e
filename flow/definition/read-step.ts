// Steps of a text: which kind a step is. The keys of each kind are in step-kinds.ts, how it is read in `steps/`.

import { create } from '@bufbuild/protobuf';
import { type Step, StepSchema } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import type { Report } from './problem.ts';
import { type Located, type Members, oneKeyOf, readExpression, readMembers, readNames } from './reader.ts';
import { commonStepKeys, type StepKey, type StepKind, stepKindNames, stepKinds } from './step-kinds.ts';
import { readCall, readModule } from './steps/call.ts';
import { readCallback } from './steps/callback.ts';
import { branchKindOf, branchKinds, forEachKeysOf, readForEach } from './steps/for-each.ts';
import { readInline } from './steps/inline.ts';
import { readJoin } from './steps/join.ts';
import { readStartFlow } from './steps/start-flow.ts';
import { readSubFlow } from './steps/sub-flow.ts';
import { readSwitch } from './steps/switch.ts';
import { readWait } from './steps/wait.ts';

const allKeys: readonly StepKey[] = [
  ...new Set([...commonStepKeys, ...stepKindNames.flatMap((kind) => stepKinds[kind])]),
];

/** `longestMs` is the time that the run has: no default of the step is longer. */
export function readStep(report: Report, id: string, located: Located, longestMs: bigint): Step {
  const kind = kindOf(report, located);
  const members: Members<StepKey> = readMembers(report, located, keysOf(report, located, kind), nameOf(kind));
  return create(StepSchema, {
    id,
    after: readNames(report, members.after, 'step ids'),
    when: readExpression(report, members.when),
    kind: readKind(report, located, kind, members, longestMs),
  });
}

function kindOf(report: Report, located: Located): StepKind | undefined {
  const { node } = located;
  // What is done for the elements of a list is written as steps are.
  const isForEach = node.kind === 'map' && node.entries.has('for_each');
  if (!isForEach) return oneKeyOf(report, located, stepKindNames, 'a step');
  const others = stepKindNames.filter((kind) => !(branchKinds as readonly string[]).includes(kind));
  return oneKeyOf(report, located, others, 'a step');
}

function keysOf(report: Report, located: Located, kind: StepKind | undefined): readonly StepKey[] {
  if (kind === undefined) return allKeys;
  const own = kind === 'for_each' ? forEachKeysOf(branchKindOf(report, located)) : stepKinds[kind];
  return [...commonStepKeys, ...own];
}

/** For messages. */
function nameOf(kind: StepKind | undefined): string {
  if (kind === undefined) return 'a step';
  return `${kind === 'inline' ? 'an' : 'a'} ${kind} step`;
}

function readKind(
  report: Report,
  located: Located,
  kind: StepKind | undefined,
  members: Members<StepKey>,
  longestMs: bigint,
): Step['kind'] {
  switch (kind) {
    case 'call':
      return { case: 'call', value: readCall(report, readModule(report, members.call), members, longestMs) };
    case 'switch':
      return { case: 'switch', value: readSwitch(report, members) };
    case 'inline':
      return { case: 'inline', value: readInline(report, members) };
    case 'join':
      return { case: 'join', value: readJoin(report, members) };
    case 'wait':
      return { case: 'wait', value: readWait(report, members) };
    case 'callback':
      return { case: 'callback', value: readCallback(report, members, longestMs) };
    case 'sub_flow':
      return { case: 'subFlow', value: readSubFlow(report, members) };
    case 'start_flow':
      return { case: 'startFlow', value: readStartFlow(report, members) };
    case 'for_each':
      return { case: 'forEach', value: readForEach(report, located, members, longestMs) };
    case undefined:
      return { case: undefined };
  }
}
