// The kinds of steps in JSON Schema. A new kind is an entry of the table; its keys are those that its reader knows.

import { printDuration } from '../duration.ts';
import { flowDefaults, flowLimits } from '../limits.ts';
import { commonStepKeys, type StepKind } from '../step-kinds.ts';
import { callKeys, type callOptionKeys, retryKeys } from '../steps/call.ts';
import { callbackKeys } from '../steps/callback.ts';
import { forEachKeysOf, maxFailuresWords } from '../steps/for-each.ts';
import { inlineKeys } from '../steps/inline.ts';
import { joinKeys, joinMemberKeys, losersWords, needWords } from '../steps/join.ts';
import { startFlowKeys } from '../steps/start-flow.ts';
import { subFlowKeys } from '../steps/sub-flow.ts';
import { caseKeys, noMatchWords, switchKeys } from '../steps/switch.ts';
import { onTimeoutWords, signalKeys, waitKeys } from '../steps/wait.ts';
import {
  address,
  count,
  countOrWord,
  duration,
  expression,
  flowName,
  type JsonSchema,
  mapByName,
  moduleName,
  names,
  object,
  plainName,
  words,
} from './json-schema.ts';

const { maxFieldsPerCall, maxSteps } = flowLimits;
const stepIds = (description: string): JsonSchema => names(plainName('The id of a step.'), maxSteps, description);
const fieldNames = (description: string): JsonSchema =>
  names(plainName('The name of a field.'), maxFieldsPerCall, description);

const common: Readonly<Record<(typeof commonStepKeys)[number], JsonSchema>> = {
  after: stepIds('Steps that must be settled (done or skipped) before this one begins.'),
  when: expression('CEL, bool. The step is skipped when it is false.'),
};

export const callOptions: Readonly<Record<(typeof callOptionKeys)[number], JsonSchema>> = {
  send: fieldNames('Fields that go out.'),
  receive: fieldNames('Fields that are kept of the answer.'),
  timeout: duration(`How long an attempt may take. ${byDefault(printDuration(flowDefaults.timeoutMs))}`),
  retry: {
    ...object(
      retryKeys,
      {
        tries: count(1, flowLimits.maxTries, `Attempts in all. ${byDefault(flowDefaults.tries)}`),
        first: duration(`The first pause, at most. ${byDefault(printDuration(flowDefaults.firstBackoffMs))}`),
        max: duration(`The longest pause. ${byDefault(printDuration(flowDefaults.maxBackoffMs))}`),
      },
      [],
    ),
    description: 'Attempts, and the pauses between them.',
  },
  max_losses: count(
    1,
    flowLimits.maxLosses,
    `Calls whose end nobody knows; one more parks the run. ${byDefault(flowDefaults.maxLosses)}`,
  ),
};

const module = moduleName('A module, as the directory names it.');
const call = { call: module, ...callOptions };

const subFlow: Readonly<Record<(typeof subFlowKeys)[number], JsonSchema>> = {
  sub_flow: flowName('The flow that is run and waited for.'),
  version: count(1, 2 ** 32 - 1, 'Its version. By default the one that is released when this flow is published.'),
  send: fieldNames('Fields that become inputs of the sub-flow.'),
  receive: fieldNames('Fields that are kept of what the sub-flow ends with.'),
};

const forEach = {
  for_each: expression('CEL, a list: the step does the same for every element.'),
  as: plainName('Under this name a branch sends its element.'),
  into: plainName('The declared json field that the results go to, in the order of the list.'),
  concurrency: count(
    1,
    flowLimits.maxConcurrency,
    `Branches that are under way at a time. ${byDefault(flowDefaults.concurrency)}`,
  ),
  max_failures: countOrWord(
    count(0, flowLimits.maxBranches, 'A number.'),
    maxFailuresWords,
    `Branches that may fail. ${byDefault(flowDefaults.maxFailures)}`,
  ),
};

const cases: JsonSchema = {
  type: 'array',
  items: object(
    caseKeys,
    {
      when: expression('CEL, bool.'),
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a schema.
      then: stepIds('Steps that are taken; none: the flow goes on behind the switch.'),
    },
    caseKeys,
  ),
  minItems: 1,
  maxItems: flowLimits.maxCases,
  description: 'Cases; the first one that holds is taken.',
};

const join: JsonSchema = {
  description: 'Goes on when enough of the steps before it are done.',
  ...object(
    joinMemberKeys,
    {
      need: countOrWord(count(1, maxSteps, 'A number.'), needWords, `How many steps must be done. ${byDefault('all')}`),
      losers: words(losersWords, `What happens to those that are needed no more. ${byDefault('wait')}`),
    },
    [],
  ),
};

const wait: JsonSchema = {
  oneOf: [
    object(['for'], { for: duration('From when the step is reached.') }, ['for']),
    object(['until'], { until: expression('CEL: ms since 1970 (int), or RFC 3339 (string).') }, ['until']),
    {
      ...object(
        signalKeys,
        {
          signal: plainName('What somebody outside says to the run.'),
          receive: fieldNames('Fields that are kept of what comes with it.'),
          timeout: duration('How long it is waited for; by default as long as the run may take.'),
          on_timeout: words(onTimeoutWords, `What happens then. ${byDefault('fail')}`),
        },
        ['signal'],
      ),
      if: { properties: { on_timeout: { const: 'pass' } }, required: ['on_timeout'] },
      // oxlint-disable-next-line unicorn/no-thenable -- A word of JSON Schema; nothing awaits a schema.
      then: { required: ['timeout'] },
    },
  ],
  description: 'What is waited for.',
};

/** A kind that is written in several ways has several entries. */
const kinds: { readonly [Kind in StepKind]: readonly JsonSchema[] } = {
  call: [step(callKeys, call, ['call'])],
  switch: [
    {
      ...step(
        switchKeys,
        {
          switch: cases,
          otherwise: stepIds('Steps that are taken when no case holds.'),
          no_match: words(noMatchWords, `What happens when no case holds. ${byDefault('fail')}`),
        },
        ['switch'],
      ),
      not: { required: ['otherwise', 'no_match'] },
    },
  ],
  inline: [
    step(
      inlineKeys,
      {
        inline: mapByName(
          plainName('A declared field.'),
          expression('CEL, of the type of the field.'),
          1,
          maxFieldsPerCall,
          'Fields that are computed inside the engine.',
        ),
      },
      ['inline'],
    ),
  ],
  join: [step(joinKeys, { join }, ['join'])],
  wait: [step(waitKeys, { wait }, ['wait'])],
  callback: [
    step(
      callbackKeys,
      {
        callback: {
          anyOf: [moduleName('A module.'), address('An address that the engine may call.')],
          description: 'Who takes the work on, and answers later by the call key.',
        },
        ...callOptions,
        answer_within: duration(`For the later answer. ${byDefault(printDuration(flowDefaults.answerWithinMs))}`),
      },
      ['callback'],
    ),
  ],
  sub_flow: [step(subFlowKeys, subFlow, ['sub_flow'])],
  start_flow: [
    step(
      startFlowKeys,
      {
        start_flow: flowName('The flow that a run of is started; nobody waits for its end.'),
        send: fieldNames('Fields that become its inputs.'),
        max_generations: count(
          1,
          flowLimits.maxGenerations,
          `How long a chain of runs that start each other may get. ${byDefault(flowDefaults.maxGenerations)}`,
        ),
      },
      ['start_flow'],
    ),
  ],
  for_each: [
    step(forEachKeysOf('call'), { ...forEach, ...subFlow, ...call }, ['for_each', 'as', 'into', 'call']),
    step(forEachKeysOf('sub_flow'), { ...forEach, ...call, ...subFlow }, ['for_each', 'as', 'into', 'sub_flow']),
  ],
};

export const stepSchema: JsonSchema = { oneOf: Object.values(kinds).flat() };

function step<Key extends string>(
  keys: readonly Key[],
  properties: Readonly<Record<Key, JsonSchema>>,
  required: readonly Key[],
): JsonSchema {
  return object<Key | keyof typeof common>([...commonStepKeys, ...keys], { ...common, ...properties }, required);
}

function byDefault(value: string | number): string {
  return `By default ${value}.`;
}
