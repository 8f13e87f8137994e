// The kinds of steps and the keys of each, for whoever reads, prints or describes a flow.

import { callKeys } from './steps/call.ts';
import { callbackKeys } from './steps/callback.ts';
import { forEachKeysOf } from './steps/for-each.ts';
import { inlineKeys } from './steps/inline.ts';
import { joinKeys } from './steps/join.ts';
import { startFlowKeys } from './steps/start-flow.ts';
import { subFlowKeys } from './steps/sub-flow.ts';
import { switchKeys } from './steps/switch.ts';
import { waitKeys } from './steps/wait.ts';

/** Keys that every step may have. */
export const commonStepKeys = ['after', 'when'] as const;

/** The keys of each kind besides the common ones, by the key that makes a step one of the kind. */
export const stepKinds = {
  call: callKeys,
  switch: switchKeys,
  inline: inlineKeys,
  join: joinKeys,
  wait: waitKeys,
  callback: callbackKeys,
  sub_flow: subFlowKeys,
  start_flow: startFlowKeys,
  for_each: forEachKeysOf(undefined),
} as const;

export type StepKind = keyof typeof stepKinds;
export type StepKey = (typeof commonStepKeys)[number] | (typeof stepKinds)[StepKind][number];

export const stepKindNames = Object.keys(stepKinds) as readonly StepKind[];
