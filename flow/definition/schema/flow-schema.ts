// The text of flows as a JSON Schema, for editors: keys come from the readers, words from their tables, numbers from the limits.
// It knows forms, not sense: whether steps exist and expressions are right is checked by `parseFlow`.

import { FieldType } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { fieldTypeNames } from '../../field-type.ts';
import { printDuration } from '../duration.ts';
import { flowDefaults, flowLimits } from '../limits.ts';
import { exitKeys, exitStates } from '../read-exit-call.ts';
import { fieldKeys, flowKeys } from '../read-flow.ts';
import { expressionWords, reservedIds } from '../validation/names.ts';
import {
  address,
  duration,
  flowName,
  type JsonSchema,
  mapByName,
  moduleName,
  object,
  plainName,
  words,
} from './json-schema.ts';
import { callOptions, stepSchema } from './steps.ts';

/** Any JSON is a default of a json field. Numbers may stand in quotes, so that none of their digits is lost. */
const defaultForms: Partial<Record<FieldType, JsonSchema>> = {
  [FieldType.BYTES]: { type: 'string' },
  [FieldType.STRING]: { type: 'string' },
  [FieldType.INT]: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^-?[0-9]+$' }] },
  [FieldType.DOUBLE]: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^-?[0-9]' }] },
  [FieldType.BOOL]: { enum: [true, false, 'true', 'false'] },
};

const fieldSchema: JsonSchema = {
  anyOf: [
    words(fieldTypeNames, 'The type of the field.'),
    {
      ...object(
        fieldKeys,
        {
          type: words(fieldTypeNames, 'The type of the field.'),
          default: { description: 'Read where nobody wrote the field.' },
        },
        ['type'],
      ),
      allOf: [...fieldTypeNames].flatMap(([type, value]) => defaultOf(type, value) ?? []),
    },
  ],
};

function defaultOf(type: string, value: FieldType): JsonSchema | undefined {
  const form = defaultForms[value];
  // oxlint-disable-next-line unicorn/no-thenable -- A word of JSON Schema; nothing awaits a schema.
  return form && { if: { properties: { type: { const: type } } }, then: { properties: { default: form } } };
}

const exitSchema: JsonSchema = {
  ...object(
    exitKeys,
    {
      when: {
        type: 'array',
        items: words(exitStates, 'How the run ended.'),
        minItems: 1,
        uniqueItems: true,
        description: 'Outcomes after which the call is made.',
      },
      call: moduleName('A module, as the directory names it.'),
      url: address('An address that the engine may call.'),
      ...callOptions,
    },
    ['when'],
  ),
  oneOf: [{ required: ['call'] }, { required: ['url'] }],
};

const root = object(
  flowKeys,
  {
    flow: flowName('The name of the flow.'),
    business: flowName('The business line that its items belong to.'),
    description: {
      type: 'string',
      maxLength: flowLimits.maxDescriptionCharacters,
      description: 'For people.',
    },
    fields: mapByName(
      { ...plainName('A field.'), not: { enum: [...expressionWords] } },
      fieldSchema,
      0,
      flowLimits.maxFields,
      'Fields that expressions read; others are opaque bytes.',
    ),
    deadline: duration(
      `How long a run may take, all waiting included. By default ${printDuration(flowDefaults.deadlineMs)}.`,
    ),
    steps: mapByName(
      { ...plainName('The id of a step.'), not: { enum: [...reservedIds] } },
      stepSchema,
      1,
      flowLimits.maxSteps,
      'The steps by their ids.',
    ),
    on_exit: {
      type: 'array',
      items: exitSchema,
      maxItems: flowLimits.maxExitCalls,
      description: 'Calls that are made when a run has ended. They never change its outcome.',
    },
  },
  ['flow', 'business', 'steps'],
);

export const flowJsonSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A flow of Weir',
  ...root,
};
