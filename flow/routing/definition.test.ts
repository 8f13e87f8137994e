// Every rule of rules.ts, with tables that it accepts and tables that it refuses: the exact place and message.

import { describe, expect, it } from 'vitest';
import { flowLimits } from '../definition/limits.ts';
import { compileRoutes } from './choose-flow.ts';
import { parseRoutes } from './definition.ts';
import { routingLimits } from './limits.ts';
import { routeRules } from './rules.ts';

interface RuleCases {
  readonly accepts: readonly string[];
  readonly refuses: ReadonlyArray<{
    readonly text: string;
    readonly path: string;
    readonly message: string;
    /** `line:column`. */
    readonly at: string;
  }>;
}

/** What the tables below may lead to. */
const flows = new Map([
  ['intake', 'mail'],
  ['large', 'mail'],
  ['invoices', 'billing'],
]);

const minimal = 'business: mail\nrules: []\notherwise: intake';
/** A table with `line` as line 4. */
const withLine = (line: string): string => `${minimal}\n${line}`;
/** A table with one rule, in line 2. */
const withRule = (rule: string): string => `business: mail\nrules: [ ${rule} ]\notherwise: refuse`;
const letters = (count: number): string => 'x'.repeat(count);
const repeated = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(', ');

const cases: Record<keyof typeof routeRules, RuleCases> = {
  'syntax.size': {
    accepts: [`${minimal}\n#${letters(flowLimits.maxFlowBytes - minimal.length - 2)}`],
    refuses: [
      {
        text: `${minimal}\n#${letters(flowLimits.maxFlowBytes - minimal.length - 1)}`,
        path: '',
        message: 'the text has more than 480000 bytes',
        at: '1:1',
      },
    ],
  },
  'syntax.yaml': {
    accepts: ['{"business":"mail","rules":[],"otherwise":"refuse"}'],
    refuses: [
      {
        text: 'business: mail\n\trules: []',
        path: '',
        message: 'not YAML: Tabs are not allowed as indentation',
        at: '2:1',
      },
    ],
  },
  'syntax.nesting': {
    accepts: [minimal],
    refuses: [{ text: '- '.repeat(10_000), path: '', message: 'the text has more than 32 levels', at: '1:192' }],
  },
  'syntax.documents': {
    accepts: [`---\n${minimal}\n...\n`],
    refuses: [
      {
        text: `${minimal}\n---\nbusiness: b`,
        path: '',
        message: 'a second document begins here; a text holds one table of routes',
        at: '5:1',
      },
    ],
  },
  'syntax.alias': {
    accepts: [withLine("description: '*a'")],
    refuses: [
      {
        text: withLine('description: *d'),
        path: 'description',
        message: 'found the alias *d; write the value out',
        at: '4:14',
      },
    ],
  },
  'syntax.tag': {
    accepts: [withLine("description: '!x'")],
    refuses: [
      {
        text: withLine('description: !!str x'),
        path: 'description',
        message: 'found the tag "tag:yaml.org,2002:str"; tags are not used',
        at: '4:20',
      },
    ],
  },
  'syntax.key': {
    accepts: [minimal],
    refuses: [
      { text: withLine('1: x'), path: '["1"]', message: 'a key must be text, found 1; put it in quotes', at: '4:1' },
    ],
  },
  'syntax.duplicate-key': {
    accepts: [minimal],
    refuses: [
      {
        text: withLine('business: b'),
        path: 'business',
        message: 'the key "business" stands here again; first in line 1',
        at: '4:1',
      },
    ],
  },
  'shape.value': {
    accepts: [minimal],
    refuses: [
      { text: 'x', path: '', message: 'a table of routes is a map, found "x"', at: '1:1' },
      {
        text: 'business: mail\nrules: { a: b }\notherwise: intake',
        path: 'rules',
        message: 'a list of rules is needed, found a map',
        at: '2:1',
      },
      {
        text: withRule('{ when: true, flow: intake }'),
        path: 'rules[0].when',
        message: 'when is a text, found the boolean true; put it in quotes',
        at: '2:12',
      },
      {
        text: `business: mail\nrules: []\notherwise: ''`,
        path: 'otherwise',
        message: 'otherwise is a flow or the word refuse, found ""',
        at: '3:1',
      },
      { text: withRule('intake'), path: 'rules[0]', message: 'a rule is a map, found "intake"', at: '2:10' },
    ],
  },
  'shape.unknown-key': {
    accepts: [minimal],
    refuses: [
      {
        text: withLine('routes: []'),
        path: 'routes',
        message: 'a table of routes has no key "routes"; did you mean \'rules\'?',
        at: '4:1',
      },
      {
        text: withRule(`{ when: 'true', flow: intake, then: x }`),
        path: 'rules[0].then',
        message: 'a rule has no key "then"; did you mean \'when\'?',
        at: '2:40',
      },
    ],
  },
  'shape.required': {
    accepts: [minimal],
    refuses: [
      { text: '', path: '', message: 'the text is empty; a table of routes is needed', at: '1:1' },
      {
        text: 'business: mail\nrules: []',
        path: 'otherwise',
        message: "a table of routes needs the key 'otherwise'",
        at: '1:1',
      },
      { text: withRule('{ flow: intake }'), path: 'rules[0]', message: "a rule needs the key 'when'", at: '2:10' },
      { text: withRule(`{ when: 'true' }`), path: 'rules[0]', message: "a rule needs the key 'flow'", at: '2:10' },
    ],
  },
  'shape.word': {
    accepts: [withLine('fields: { country: string }')],
    refuses: [
      {
        text: withLine('fields: { country: text }'),
        path: 'fields.country',
        message: 'the type of a field cannot be "text"; allowed are bytes, string, int, double, bool, json',
        at: '4:11',
      },
    ],
  },
  'names.flow': {
    accepts: [withRule(`{ when: 'true', flow: intake }`)],
    refuses: [
      {
        text: minimal.replace('mail', 'Mail'),
        path: 'business',
        message: 'a business line cannot be called "Mail"; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '1:1',
      },
      {
        text: withRule(`{ when: 'true', flow: '' }`),
        path: 'rules[0].flow',
        message: 'a flow cannot be called ""; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '2:26',
      },
      {
        text: minimal.replace('intake', 'In'),
        path: 'otherwise',
        message: 'a flow cannot be called "In"; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '3:1',
      },
    ],
  },
  'names.field': {
    accepts: [withLine('fields: { a_1: int }')],
    refuses: [
      {
        text: withLine('fields: { a-1: int }'),
        path: 'fields.a-1',
        message: 'a field cannot be called "a-1"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:11',
      },
    ],
  },
  'names.expression-word': {
    accepts: [withLine('fields: { inside: int }')],
    refuses: [
      {
        text: withLine('fields: { in: int }'),
        path: 'fields.in',
        message: '"in" is a word of the expression language; expressions could not read the field',
        at: '4:11',
      },
    ],
  },
  'names.item': {
    accepts: [withRule(`{ when: "business == 'mail' && level < 3", flow: intake }`)],
    refuses: [
      {
        text: withLine('fields: { level: int }'),
        path: 'fields.level',
        message: '"level" is of the item itself: rules read it without a declaration',
        at: '4:11',
      },
    ],
  },
  'fields.default': {
    accepts: [withLine('fields: { size: { type: int, default: 3 } }')],
    refuses: [
      {
        text: withLine('fields: { size: { type: int, default: many } }'),
        path: 'fields.size.default',
        message: '"many" is not an int: a decimal number of 64 bits',
        at: '4:30',
      },
    ],
  },
  'expressions.valid': {
    accepts: [withRule(`{ when: 'level == 1 || level > 8', flow: intake }`)],
    refuses: [
      {
        text: withRule(`{ when: 'levl == 1', flow: intake }`),
        path: 'rules[0].when',
        message: "line 1, column 1: 'levl' is not a declared field; did you mean 'level'?",
        at: '2:12',
      },
      {
        text: withRule(`{ when: 'level', flow: intake }`),
        path: 'rules[0].when',
        message: 'the value is an int, bool is needed',
        at: '2:12',
      },
    ],
  },
  'limits.rules': {
    accepts: [withRule(repeated(routingLimits.maxRules, (index) => `{ when: 'level == ${index}', flow: intake }`))],
    refuses: [
      {
        text: withRule(repeated(routingLimits.maxRules + 1, () => `{ when: 'true', flow: intake }`)),
        path: 'rules',
        message: 'found 1001 rules; at most 1000 are allowed',
        at: '2:1',
      },
    ],
  },
  'limits.fields': {
    accepts: [withLine(`fields: { ${repeated(flowLimits.maxFields, (index) => `f${index}: int`)} }`)],
    refuses: [
      {
        text: withLine(`fields: { ${repeated(flowLimits.maxFields + 1, (index) => `f${index}: int`)} }`),
        path: 'fields',
        message: 'found 1001 fields; at most 1000 are allowed',
        at: '4:1',
      },
    ],
  },
  'limits.description': {
    accepts: [withLine(`description: ${letters(4_096)}`)],
    refuses: [
      {
        text: withLine(`description: ${letters(4_097)}`),
        path: 'description',
        message: 'found 4097 characters; at most 4096 are allowed',
        at: '4:1',
      },
    ],
  },
  'limits.table-size': {
    accepts: [minimal],
    refuses: [
      {
        // Only what grows when it is stored: a sign of two characters that JSON writes with six.
        text: withLine(`fields: { j: { type: json, default: "${'\\0'.repeat(80_000)}" } }`),
        path: '',
        message: 'found 480029 bytes in the stored form; at most 480000 are allowed',
        at: '1:1',
      },
    ],
  },
  'flows.known': {
    accepts: [withRule(`{ when: 'true', flow: large }`)],
    refuses: [
      {
        text: withRule(`{ when: 'true', flow: lage }`),
        path: 'rules[0].flow',
        message: 'there is no flow "lage"; did you mean \'large\'?',
        at: '2:26',
      },
      {
        text: withRule(`{ when: 'true', flow: refuse }`),
        path: 'rules[0].flow',
        message: 'there is no flow "refuse"; to refuse what no rule takes, write it in otherwise',
        at: '2:26',
      },
      {
        text: minimal.replace('intake', 'nothing'),
        path: 'otherwise',
        message: 'there is no flow "nothing"',
        at: '3:1',
      },
    ],
  },
  'flows.business': {
    accepts: [minimal],
    refuses: [
      {
        text: withRule(`{ when: 'true', flow: invoices }`),
        path: 'rules[0].flow',
        message: 'flow invoices belongs to business billing, found "mail"',
        at: '2:26',
      },
    ],
  },
};

describe.each(Object.entries(cases))('%s', (rule, { accepts, refuses }) => {
  it('has cases of both kinds', () => {
    expect(accepts.length).toBeGreaterThan(0);
    expect(refuses.length).toBeGreaterThan(0);
  });

  it.each(accepts)('accepts %.60j', (text) => {
    const parsed = parseRoutes(text, flows);
    expect(parsed).toMatchObject({ kind: 'routes' });
    if (parsed.kind === 'routes') compileRoutes(parsed.table);
  });

  it.each(refuses)('refuses at $path', ({ text, path, message, at }) => {
    const parsed = parseRoutes(text, flows);
    if (parsed.kind !== 'problems') throw new Error('accepted');
    const found = parsed.problems.map((problem) => ({ ...problem, at: `${problem.line}:${problem.column}` }));
    expect(found).toMatchObject([{ rule, path, message, at }]);
  });
});

describe('parseRoutes', () => {
  it('knows every rule that it reports', () => {
    const reported = Object.values(cases).flatMap(({ refuses }) =>
      refuses.flatMap(({ text }) => {
        const parsed = parseRoutes(text, flows);
        return parsed.kind === 'problems' ? parsed.problems.map(({ rule }) => rule) : [];
      }),
    );
    expect([...new Set(reported)].filter((rule) => !(rule in routeRules))).toEqual([]);
  });

  it('does not ask for flows that it is not given', () => {
    expect(parseRoutes(minimal.replace('intake', 'elsewhere'))).toMatchObject({ kind: 'routes' });
  });

  it('tells all problems at once, in the order of the text', () => {
    const parsed = parseRoutes('business: B\nrules: [ { when: "x", flow: intak } ]\notherwise: 1', flows);
    if (parsed.kind !== 'problems') throw new Error('accepted');
    expect(parsed.problems.map(({ path }) => path)).toEqual([
      'business',
      'rules[0].when',
      'rules[0].flow',
      'otherwise',
    ]);
  });
});
