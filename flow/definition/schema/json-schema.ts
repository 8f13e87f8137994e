// The few words of JSON Schema (2020-12) that the description of flows needs.

import { expressionLimits } from '../../expression/limits.ts';
import { durationForm } from '../duration.ts';
import { flowLimits } from '../limits.ts';
import { flowForm, moduleForm, plainForm } from '../validation/names.ts';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The keys of a map: a description of each, no others, and those that must be there. */
export function object<Key extends string>(
  keys: readonly Key[],
  properties: Readonly<Record<Key, JsonSchema>>,
  required: readonly Key[],
): JsonSchema {
  // In the order of the language's own lists, and without what one of them leaves out.
  const described = Object.fromEntries(keys.map((key) => [key, properties[key]]));
  return { type: 'object', properties: described, required, additionalProperties: false };
}

function text(form: RegExp, maxLength: number, description: string): JsonSchema {
  return { type: 'string', pattern: form.source, maxLength, description };
}

export function flowName(description: string): JsonSchema {
  return text(flowForm, flowLimits.maxNameCharacters, description);
}

/** A step, a field, a signal. */
export function plainName(description: string): JsonSchema {
  return text(plainForm, flowLimits.maxNameCharacters, description);
}

export function moduleName(description: string): JsonSchema {
  return text(moduleForm, flowLimits.maxModuleCharacters, description);
}

export function address(description: string): JsonSchema {
  return {
    type: 'string',
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$',
    maxLength: flowLimits.maxUrlCharacters,
    description,
  };
}

export function expression(description: string): JsonSchema {
  return { type: 'string', minLength: 1, maxLength: expressionLimits.maxSourceCharacters, description };
}

export function duration(description: string): JsonSchema {
  return { type: 'string', pattern: durationForm.source, description };
}

export function count(minimum: number, maximum: number, description: string): JsonSchema {
  return { type: 'integer', minimum, maximum, description };
}

export function words(of: ReadonlyMap<string, unknown>, description: string): JsonSchema {
  return { enum: [...of.keys()], description };
}

/** A number, or a word that stands for one. */
export function countOrWord(number: JsonSchema, of: ReadonlyMap<string, unknown>, description: string): JsonSchema {
  return { anyOf: [number, { enum: [...of.keys()] }], description };
}

/** Names, each once. */
export function names(of: JsonSchema, maxItems: number, description: string): JsonSchema {
  return { type: 'array', items: of, uniqueItems: true, maxItems, description };
}

/** A map by names. */
export function mapByName(
  name: JsonSchema,
  value: JsonSchema,
  least: number,
  most: number,
  description: string,
): JsonSchema {
  return {
    type: 'object',
    propertyNames: name,
    additionalProperties: value,
    minProperties: least,
    maxProperties: most,
    description,
  };
}
