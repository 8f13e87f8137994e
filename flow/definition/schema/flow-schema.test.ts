// The schema and the readers say the same of every case of the rules, as far as a schema can.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseFlow } from '../definition.ts';
import type { RuleCases } from '../rule-cases/rule-case.ts';
import { ruleCases } from '../rule-cases.ts';
import type { RuleId } from '../rules.ts';
import { flowJsonSchema } from './flow-schema.ts';

const validate = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: false }).compile(
  flowJsonSchema,
);

/** Rules that a schema can hold texts to: the form of single values. */
const formal: ReadonlySet<RuleId> = new Set<RuleId>([
  'shape.value',
  'shape.unknown-key',
  'shape.required',
  'shape.kind',
  'shape.number',
  'shape.duration',
  'shape.word',
  'names.flow',
  'names.step',
  'names.field',
  'names.module',
  'names.signal',
  'names.reserved',
  'names.expression-word',
  'references.duplicate',
  'references.no-match',
  'references.on-timeout',
  'limits.steps',
  'limits.cases',
  'limits.fields',
  'limits.assignments',
  'limits.exit-calls',
  'limits.generations',
  'limits.concurrency',
  'limits.max-failures',
  'limits.description',
  'limits.tries',
  'limits.losses',
]);

const cases = Object.entries(ruleCases) as Array<[RuleId, RuleCases]>;

function valueOf(text: string): unknown {
  return parse(text, { version: '1.2', schema: 'core' });
}

describe('the schema', () => {
  it.each(cases)('accepts what %s accepts', (_, { accepts }) => {
    for (const text of accepts) {
      expect(parseFlow(text).kind, text).toBe('flow');
      expect(validate(valueOf(text)), `${text}\n${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });

  it.each(cases.filter(([rule]) => formal.has(rule)))('refuses what %s refuses', (_, { refuses }) => {
    for (const { text } of refuses) expect(validate(valueOf(text)), text).toBe(false);
  });

  it('leaves nothing undescribed', () => {
    const undescribed: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties = {} } = schema as { properties?: Record<string, Record<string, unknown>> };
      for (const [key, each] of Object.entries(properties)) {
        const isForm = path.includes('.then') || path.includes('.if');
        if (!isForm && typeof each['description'] !== 'string') undescribed.push(`${path}.${key}`);
      }
      for (const [key, each] of Object.entries(schema)) visit(each, `${path}.${key}`);
    };
    visit(flowJsonSchema, '');
    expect(undescribed).toEqual([]);
  });
});
