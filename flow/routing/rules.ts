// Every rule that a table of routes is held to. Problems carry the id; definition.test.ts has an accepted and a refused table for
// each. What also holds for flows has the id that it has there (flow/definition/rules.ts).

import type { RuleId } from '../definition/rules.ts';

const shared = {
  'syntax.size': 'The text has at most 480,000 bytes and 200,000 tokens.',
  'syntax.yaml': 'The text is YAML 1.2, of which JSON is a part.',
  'syntax.nesting': 'The text has at most 32 levels.',
  'syntax.documents': 'The text holds one table.',
  'syntax.alias': 'Every value is written out: anchors and aliases are not used.',
  'syntax.tag': 'Values are plain: tags are not used.',
  'syntax.key': 'Keys are text.',
  'syntax.duplicate-key': 'A key stands once.',

  'shape.value': 'A value has the form that its key asks for: text, list, map.',
  'shape.unknown-key': 'Only known keys are used.',
  'shape.required': 'What a table and its rules need is there.',
  'shape.word': 'Where a few words are allowed, it is one of them.',

  'names.flow': 'Flows and business lines: [a-z][a-z0-9_-]*, up to 64 characters.',
  'names.field': 'Fields: [a-z][a-z0-9_]*, up to 64 characters.',
  'names.expression-word': 'A declared field is not called like a word of the expression language.',

  'fields.default': 'A default is a value of the type of its field.',

  'expressions.valid':
    'Expressions are CEL over declared fields, `business` and `level`, within limits, with a boolean value.',

  'limits.fields': 'A table declares up to 1,000 fields.',
  'limits.description': 'A description has up to 4,096 characters.',
} as const satisfies Partial<Record<RuleId, string>>;

const own = {
  'names.item': 'No declared field is called business or level: these are of the item itself.',
  'limits.rules': 'A table has up to 1,000 rules, tried one after the other.',
  'limits.table-size': 'A table as stored has at most 480,000 bytes.',
  'flows.known': 'Flows that are named exist.',
  'flows.business': 'Flows that are named belong to the business line of the table.',
} as const;

export const routeRules = { ...shared, ...own } as const;

/** What is shared with flows is reported by their readers, which know more rules than a table has. */
export type RouteRuleId = RuleId | keyof typeof own;
