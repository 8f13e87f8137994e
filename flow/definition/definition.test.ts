// Every rule of rules.ts, with flows that it accepts and flows that it refuses: the exact place and message.

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { FlowSchema, NoMatch } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { compileFlow } from '../compile.ts';
import { parseFlow } from './definition.ts';
import { flowLimits } from './limits.ts';
import { type RuleId, rules } from './rules.ts';

interface Refusal {
  readonly text: string;
  readonly path: string;
  readonly message: string;
  /** `line:column`. */
  readonly at: string;
}

interface RuleCases {
  readonly accepts: readonly string[];
  readonly refuses: readonly Refusal[];
}

/** A flow around the lines of its steps, the first of which is line 4. */
function withSteps(...lines: string[]): string {
  return ['flow: f', 'business: b', 'steps:', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** A flow with one step, and `line` as line 4. */
function withLine(line: string): string {
  return ['flow: f', 'business: b', 'steps: { a: { call: m } }', line].join('\n');
}

/** A flow with the declared fields of line 3 and the steps from line 5 on. */
function withFields(fields: string, ...lines: string[]): string {
  return ['flow: f', 'business: b', `fields: { ${fields} }`, 'steps:', ...lines.map((line) => `  ${line}`)].join('\n');
}

const minimal = withSteps('a: { call: m }');
const letters = (count: number): string => 'x'.repeat(count);
const numbered = (count: number, one: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => one(index));
const names = (count: number): string => numbered(count, (index) => `f${index}`).join(', ');

const cases: Record<RuleId, RuleCases> = {
  'syntax.size': {
    accepts: [`${minimal}\n#${letters(flowLimits.maxFlowBytes - minimal.length - 2)}`],
    refuses: [
      {
        text: `${minimal}\n#${letters(flowLimits.maxFlowBytes - minimal.length - 1)}`,
        path: '',
        message: 'the text has more than 480000 bytes',
        at: '1:1',
      },
      { text: '字'.repeat(160_001), path: '', message: 'the text has more than 480000 bytes', at: '1:1' },
      { text: `[${', '.repeat(100_000)}]`, path: '', message: 'the text has more than 200000 tokens', at: '1:200001' },
    ],
  },
  'syntax.yaml': {
    accepts: [
      minimal,
      `\uFEFF${minimal}`,
      minimal.replaceAll('\n', '\r\n'),
      '{"flow":"f","business":"b","steps":{"a":{"call":"m"}}}',
    ],
    refuses: [
      {
        text: 'flow: [f',
        path: '',
        message: 'not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
        at: '1:9',
      },
      { text: 'flow: f\n\tbusiness: b', path: '', message: 'not YAML: Tabs are not allowed as indentation', at: '2:1' },
      { text: '{"flow":"f', path: '', message: 'not YAML: Missing closing "quote', at: '1:11' },
    ],
  },
  'syntax.nesting': {
    accepts: [withLine(`fields: { j: { type: json, default: ${'['.repeat(25)}${']'.repeat(25)} } }`)],
    refuses: [
      {
        text: '['.repeat(10_000) + ']'.repeat(10_000),
        path: '',
        message: 'the text has more than 32 levels',
        at: '1:97',
      },
      { text: '- '.repeat(10_000), path: '', message: 'the text has more than 32 levels', at: '1:192' },
      { text: '{"a":'.repeat(10_000), path: '', message: 'the text has more than 32 levels', at: '1:477' },
    ],
  },
  'syntax.documents': {
    accepts: [`---\n${minimal}\n...\n`],
    refuses: [
      {
        text: `${minimal}\n---\nflow: g`,
        path: '',
        message: 'a second document begins here; a text holds one flow',
        at: '6:1',
      },
    ],
  },
  'syntax.alias': {
    accepts: [withLine("description: '*a &b'")],
    refuses: [
      {
        text: withLine('description: &d text'),
        path: 'description',
        message: 'found the anchor &d; anchors are not used',
        at: '4:17',
      },
      {
        text: withLine('description: *d'),
        path: 'description',
        message: 'found the alias *d; write the value out',
        at: '4:14',
      },
    ],
  },
  'syntax.tag': {
    accepts: [withLine("description: '!!binary x'")],
    refuses: [
      {
        text: withLine('description: !!binary aGk='),
        path: 'description',
        message: 'found the tag "tag:yaml.org,2002:binary"; tags are not used',
        at: '4:23',
      },
      {
        text: withLine('description: !!js/function x'),
        path: 'description',
        message: 'found the tag "tag:yaml.org,2002:js/function"; tags are not used',
        at: '4:28',
      },
    ],
  },
  'syntax.key': {
    accepts: [withSteps('"a": { call: m }')],
    refuses: [
      {
        text: withSteps('1: { call: m }'),
        path: 'steps["1"]',
        message: 'a key must be text, found 1; put it in quotes',
        at: '4:3',
      },
      {
        text: withSteps(': { call: m }'),
        path: 'steps[""]',
        message: 'a key must be text, found nothing; put it in quotes',
        at: '4:3',
      },
      {
        text: withSteps('? [a]', ': { call: m }'),
        path: 'steps',
        message: 'a key must be text, found a list or map; put it in quotes',
        at: '4:5',
      },
    ],
  },
  'syntax.duplicate-key': {
    accepts: [withSteps('a: { call: m }', 'b: { call: m }')],
    refuses: [
      {
        text: withSteps('a: { call: m }', 'a: { call: n }'),
        path: 'steps.a',
        message: 'the key "a" stands here again; first in line 4',
        at: '5:3',
      },
      {
        text: '{"flow":"f","flow":"g","business":"b","steps":{"a":{"call":"m"}}}',
        path: 'flow',
        message: 'the key "flow" stands here again; first in line 1',
        at: '1:13',
      },
    ],
  },

  'shape.value': {
    accepts: [withLine('description: text')],
    refuses: [
      { text: '[]', path: '', message: 'a flow is a map, found a list', at: '1:1' },
      {
        text: withLine('description: 5'),
        path: 'description',
        message: 'description is a text, found the number 5; put it in quotes',
        at: '4:1',
      },
      { text: withSteps('a: 5'), path: 'steps.a', message: 'a step is a map, found the number 5', at: '4:3' },
      {
        text: withSteps('a: { call: m, send: raw }'),
        path: 'steps.a.send',
        message: 'a list of field names is needed, found "raw"',
        at: '4:17',
      },
      {
        text: withSteps('a: { call: m, send: [x, 5] }'),
        path: 'steps.a.send[1]',
        message: 'a name is a text, found the number 5; put it in quotes',
        at: '4:27',
      },
      {
        text: withSteps('a: { call: m, when: true }'),
        path: 'steps.a.when',
        message: 'an expression is a text, found the boolean true; put it in quotes',
        at: '4:17',
      },
      {
        text: withSteps('a: { inline: [x] }'),
        path: 'steps.a.inline',
        message: 'inline is a map, found a list',
        at: '4:8',
      },
      {
        text: withFields('s: { type: string, default: 5 }', 'a: { call: m }'),
        path: 'fields.s.default',
        message: 'a default is a single value, found the number 5; put it in quotes',
        at: '3:30',
      },
      {
        text: withFields('n: { type: int, default: [5] }', 'a: { call: m }'),
        path: 'fields.n.default',
        message: 'a default is a single value, found a list',
        at: '3:27',
      },
    ],
  },
  'shape.unknown-key': {
    accepts: [withSteps('a: { call: m, receive: [x] }')],
    refuses: [
      {
        text: withSteps('a: { call: m, recieve: [x] }'),
        path: 'steps.a.recieve',
        message: `a call step has no key "recieve"; did you mean 'receive'?`,
        at: '4:17',
      },
      {
        text: withLine('__proto__: { x: 1 }'),
        path: '__proto__',
        message:
          'a flow has no key "__proto__"; allowed are flow, business, description, fields, deadline, steps, on_exit',
        at: '4:1',
      },
      {
        text: withSteps('a: { call: m, constructor: 1 }'),
        path: 'steps.a.constructor',
        message:
          'a call step has no key "constructor"; allowed are after, when, call, send, receive, timeout, retry, max_losses',
        at: '4:17',
      },
      {
        text: withLine('<<: { description: x }'),
        path: '["<<"]',
        message: 'a flow has no key "<<"; allowed are flow, business, description, fields, deadline, steps, on_exit',
        at: '4:1',
      },
      {
        text: withSteps('a: { inline: {}, timeout: 1s }'),
        path: 'steps.a.timeout',
        message: 'an inline step has no key "timeout"; allowed are after, when, inline',
        at: '4:20',
      },
      {
        text: withLine('on_exit: [{ when: [FAILED], call: m, receive: [x] }]'),
        path: 'on_exit[0].receive',
        message: 'an exit call has no key "receive"; allowed are when, call, send, timeout, retry, max_losses',
        at: '4:38',
      },
      {
        text: withSteps('a: { call: m, retry: { first: 1s, maximum: 2s } }'),
        path: 'steps.a.retry.maximum',
        message: 'retry has no key "maximum"; allowed are tries, first, max',
        at: '4:37',
      },
    ],
  },
  'shape.required': {
    accepts: [minimal],
    refuses: [
      { text: '', path: '', message: 'the text is empty; a flow is needed', at: '1:1' },
      { text: '# nothing', path: '', message: 'the text is empty; a flow is needed', at: '1:1' },
      {
        text: 'flow: f\nsteps: { a: { call: m } }',
        path: 'business',
        message: "a flow needs the key 'business'",
        at: '1:1',
      },
      {
        text: withFields("s: { default: 'x' }", 'a: { call: m }'),
        path: 'fields.s',
        message: "a field needs the key 'type'",
        at: '3:11',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true' }] }"),
        path: 'steps.a.switch[0]',
        message: "a case needs the key 'then'",
        at: '4:17',
      },
      {
        text: withLine('on_exit: [{ call: m }]'),
        path: 'on_exit[0]',
        message: "an exit call needs the key 'when'",
        at: '4:11',
      },
    ],
  },
  'shape.kind': {
    accepts: [withSteps('a: { call: m }'), withFields('s: string', `a: { inline: { s: "'x'" } }`)],
    refuses: [
      {
        text: withSteps('a: { after: [] }'),
        path: 'steps.a',
        message: 'a step has exactly one of the keys call, switch, inline, found none',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m, inline: {} }'),
        path: 'steps.a',
        message: 'a step has exactly one of the keys call, switch, inline, found call and inline',
        at: '4:3',
      },
    ],
  },
  'shape.number': {
    accepts: [withSteps('a: { call: m, max_losses: 3 }')],
    refuses: [
      {
        text: withSteps('a: { call: m, max_losses: many }'),
        path: 'steps.a.max_losses',
        message: 'a whole number is needed, found "many"',
        at: '4:17',
      },
      {
        text: withSteps('a: { call: m, max_losses: 1.5 }'),
        path: 'steps.a.max_losses',
        message: 'a whole number is needed, found the number 1.5',
        at: '4:17',
      },
      {
        text: withSteps('a: { call: m, retry: { tries: -1 } }'),
        path: 'steps.a.retry.tries',
        message: 'a whole number is needed, found the number -1',
        at: '4:26',
      },
      {
        text: withSteps('a: { call: m, retry: { tries: 1e999 } }'),
        path: 'steps.a.retry.tries',
        message: 'a whole number is needed, found the number 1e999',
        at: '4:26',
      },
    ],
  },
  'shape.duration': {
    accepts: ['1ms', '200ms', '2s', '10m', '24h', '1d'].map((duration) =>
      withLine(`deadline: ${duration}`).replace('call: m', 'call: m, timeout: 1ms, retry: { first: 1ms, max: 1ms }'),
    ),
    refuses: ['10', '1.5s', '-1s', '1 s', '1w', '12345678901s', "''", '1S'].map((text) => ({
      text: withLine(`deadline: ${text}`),
      path: 'deadline',
      message: `a duration such as 200ms, 2s, 10m, 24h or 7d is needed, found ${text === '10' ? 'the number 10' : JSON.stringify(text.replaceAll("'", ''))}`,
      at: '4:1',
    })),
  },
  'shape.word': {
    accepts: [
      withFields('a: string, b: int, c: double, d: bool, e: json, f: bytes', 'a: { call: m }'),
      withLine('on_exit: [{ when: [SUCCEEDED, CANCELLED], call: m }]'),
    ],
    refuses: [
      {
        text: withFields('a: strnig', 'a: { call: m }'),
        path: 'fields.a',
        message: `the type of a field cannot be "strnig"; did you mean 'string'?`,
        at: '3:11',
      },
      {
        text: withFields('a: date', 'a: { call: m }'),
        path: 'fields.a',
        message: 'the type of a field cannot be "date"; allowed are bytes, string, int, double, bool, json',
        at: '3:11',
      },
      {
        text: withLine('on_exit: [{ when: [failed], call: m }]'),
        path: 'on_exit[0].when[0]',
        message: 'a state in which a run ends cannot be "failed"; allowed are SUCCEEDED, FAILED, CANCELLED',
        at: '4:20',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [] }], no_match: ignore }"),
        path: 'steps.a.no_match',
        message: 'no_match cannot be "ignore"; allowed are pass, fail',
        at: '4:46',
      },
      {
        text: withLine('on_exit: [{ when: [], call: m }]'),
        path: 'on_exit[0].when',
        message: 'an exit call names the states it is made in: SUCCEEDED, FAILED, CANCELLED',
        at: '4:13',
      },
    ],
  },

  'names.flow': {
    accepts: [
      minimal,
      minimal.replace('flow: f', `flow: ${letters(64)}`),
      minimal.replace('business: b', 'business: b-2_x'),
    ],
    refuses: [
      {
        text: minimal.replace('flow: f', 'flow: Mail'),
        path: 'flow',
        message: 'a flow cannot be called "Mail"; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '1:1',
      },
      {
        text: minimal.replace('flow: f', `flow: ${letters(65)}`),
        path: 'flow',
        message: `a flow cannot be called "${letters(40)}…"; allowed is [a-z][a-z0-9_-]*, up to 64 characters`,
        at: '1:1',
      },
      {
        text: minimal.replace('business: b', "business: 'b/c'"),
        path: 'business',
        message: 'a business line cannot be called "b/c"; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '2:1',
      },
    ],
  },
  'names.step': {
    accepts: [withSteps('a_1: { call: m }'), withSteps(`${letters(64)}: { call: m }`)],
    refuses: [
      {
        text: withSteps('a-b: { call: m }'),
        path: 'steps.a-b',
        message: 'a step id cannot be called "a-b"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:3',
      },
      {
        text: withSteps('A: { call: m }'),
        path: 'steps.A',
        message: 'a step id cannot be called "A"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:3',
      },
      // Equal to the eye in another Unicode form, and with a blank at the end: no such ids exist.
      {
        text: withSteps('caf\u00e9: { call: m }', 'cafe\u0301: { call: m }'),
        path: 'steps["cafe\u0301"]',
        message: 'a step id cannot be called "cafe\u0301"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '5:3',
      },
      {
        text: withSteps('a: { call: m }', '"a ": { call: m }'),
        path: 'steps["a "]',
        message: 'a step id cannot be called "a "; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '5:3',
      },
      {
        text: withSteps('__proto__: { call: m }'),
        path: 'steps.__proto__',
        message: 'a step id cannot be called "__proto__"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:3',
      },
    ],
  },
  'names.field': {
    accepts: [withSteps('a: { call: m, send: [constructor], receive: [in] }')],
    refuses: [
      {
        text: withSteps('a: { call: m, send: [x, Raw] }'),
        path: 'steps.a.send[1]',
        message: 'a field cannot be called "Raw"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:27',
      },
      {
        text: withSteps("a: { call: m, receive: ['a/b'] }"),
        path: 'steps.a.receive[0]',
        message: 'a field cannot be called "a/b"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:27',
      },
      {
        text: withFields('a-b: string', 'a: { call: m }'),
        path: 'fields.a-b',
        message: 'a field cannot be called "a-b"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '3:11',
      },
    ],
  },
  'names.module': {
    accepts: [
      withSteps('a: { call: text.near_dup.v2 }'),
      withSteps('a: { call: text-upper }'),
      withSteps(`a: { call: ${letters(128)} }`),
    ],
    refuses: ['text..dup', 'Text', '.text', 'text.', 'text.2', letters(129)].map((module) => ({
      text: withSteps(`a: { call: ${module} }`),
      path: 'steps.a.call',
      message: `a module cannot be called "${module.length > 40 ? `${letters(40)}…` : module}"; allowed is [a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*, up to 128 characters`,
      at: '4:8',
    })),
  },
  'names.reserved': {
    accepts: [withSteps('inputs: { call: m }')],
    refuses: ['input', 'exit'].map((id) => ({
      text: withSteps(`${id}: { call: m }`),
      path: `steps.${id}`,
      message: `"${id}" names a writer of fields that is no step`,
      at: '4:3',
    })),
  },
  'names.expression-word': {
    accepts: [withFields('inside: string', 'a: { call: m }')],
    refuses: ['in', 'as', 'while', 'true', 'null'].map((name) => ({
      text: withFields(`'${name}': string`, 'a: { call: m }'),
      path: `fields.${name}`,
      message: `"${name}" is a word of the expression language; expressions could not read the field`,
      at: '3:11',
    })),
  },
  // A text can't break it: see validate.test.ts.
  'names.unique': { accepts: [minimal], refuses: [] },

  'references.step': {
    accepts: [withSteps('a: { call: m }', 'b: { after: [a], call: m }', 'c: { after: [], call: m }')],
    refuses: [
      {
        text: withSteps('parse: { call: m }', 'b: { after: [parsee], call: m }'),
        path: 'steps.b.after[0]',
        message: `no step is called "parsee"; did you mean 'parse'?`,
        at: '5:16',
      },
      {
        text: withSteps('a: { call: m }', 'b: { after: [A], call: m }'),
        path: 'steps.b.after[0]',
        message: 'no step is called "A"',
        at: '5:16',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [nope] }] }"),
        path: 'steps.a.switch[0].then[0]',
        message: 'no step is called "nope"',
        at: '4:40',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [] }], otherwise: [nope] }"),
        path: 'steps.a.otherwise[0]',
        message: 'no step is called "nope"',
        at: '4:58',
      },
      {
        text: withSteps('a: { after: [constructor], call: m }'),
        path: 'steps.a.after[0]',
        message: 'no step is called "constructor"',
        at: '4:16',
      },
    ],
  },
  'references.duplicate': {
    accepts: [
      withSteps(
        "a: { switch: [{ when: 'true', then: [b] }, { when: 'true', then: [b] }] }",
        'b: { call: m, send: [x], receive: [x] }',
      ),
    ],
    refuses: [
      {
        text: withSteps('a: { call: m }', 'b: { after: [a, a], call: m }'),
        path: 'steps.b.after[1]',
        message: 'stands here again; first as [0]',
        at: '5:19',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [b, b] }] }", 'b: { call: m }'),
        path: 'steps.a.switch[0].then[1]',
        message: 'stands here again; first as [0]',
        at: '4:43',
      },
      {
        text: withSteps('a: { call: m, receive: [x, y, x] }'),
        path: 'steps.a.receive[2]',
        message: 'stands here again; first as [0]',
        at: '4:33',
      },
      {
        text: withLine('on_exit: [{ when: [FAILED, FAILED], call: m }]'),
        path: 'on_exit[0].when[1]',
        message: 'stands here again; first as [0]',
        at: '4:28',
      },
    ],
  },
  'references.no-match': {
    accepts: [
      "a: { switch: [{ when: 'true', then: [] }], no_match: pass }",
      "a: { switch: [{ when: 'true', then: [] }], otherwise: [] }",
    ].map((line) => withSteps(line)),
    refuses: [
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [] }], otherwise: [], no_match: pass }"),
        path: 'steps.a.no_match',
        message: 'no_match and otherwise say the same thing twice; keep one',
        at: '4:61',
      },
    ],
  },

  'graph.ring': {
    accepts: [withSteps('a: { call: m }', 'b: { after: [a], call: m }', 'c: { after: [a, b], call: m }')],
    refuses: [
      {
        text: withSteps('a: { after: [a], call: m }'),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> a',
        at: '4:3',
      },
      {
        text: withSteps(
          'a: { after: [c], call: m }',
          'b: { after: [a], call: m }',
          'c: { after: [b], call: m }',
          'd: { after: [c], call: m }',
        ),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> c -> a',
        at: '4:3',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [a] }] }"),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> a',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m }', "b: { after: [a], switch: [{ when: 'true', then: [a] }] }"),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> a',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m }', "b: { after: [a], switch: [{ when: 'false', then: [] }], otherwise: [a] }"),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> a',
        at: '4:3',
      },
    ],
  },

  'fields.default': {
    accepts: [
      withFields(
        "s: { type: string, default: '' }, n: { type: int, default: 9223372036854775807 }, d: { type: double, default: 1e3 }, t: { type: bool, default: false }, j: { type: json, default: { a: [1, null] } }",
        'a: { call: m }',
      ),
    ],
    refuses: [
      {
        text: withFields('n: { type: int, default: 0x10 }', 'a: { call: m }'),
        path: 'fields.n.default',
        message: '"0x10" is not an int: a decimal number of 64 bits',
        at: '3:27',
      },
      {
        text: withFields('n: { type: int, default: 9223372036854775808 }', 'a: { call: m }'),
        path: 'fields.n.default',
        message: '"9223372036854775808" is not an int: it needs more than 64 bits',
        at: '3:27',
      },
      {
        text: withFields('d: { type: double, default: .inf }', 'a: { call: m }'),
        path: 'fields.d.default',
        message: '".inf" is not a double: a decimal number as in JSON',
        at: '3:30',
      },
      {
        text: withFields('t: { type: bool, default: yes }', 'a: { call: m }'),
        path: 'fields.t.default',
        message: '"yes" is not a bool: `true` or `false`',
        at: '3:28',
      },
    ],
  },
  'fields.computed': {
    accepts: [withFields('s: string', `a: { inline: { s: "'x'" } }`)],
    refuses: [
      {
        text: withFields('verdict: string', `a: { inline: { verdct: "'x'" } }`),
        path: 'steps.a.inline.verdct',
        message: `"verdct" is not a declared field; did you mean 'verdict'?`,
        at: '5:18',
      },
      {
        text: withFields('raw: bytes', `a: { inline: { raw: "'x'" } }`),
        path: 'steps.a.inline.raw',
        message: '"raw" is declared as bytes, which expressions cannot compute',
        at: '5:18',
      },
    ],
  },
  'fields.writers': {
    accepts: [
      withSteps(
        'a: { call: m, receive: [x] }',
        'b: { after: [a], call: m }',
        'c: { after: [b], call: m, receive: [x] }',
      ),
      withSteps("a: { switch: [{ when: 'true', then: [b] }] }", 'b: { call: m, receive: [x] }'),
    ],
    refuses: [
      {
        text: withSteps('a: { call: m, receive: [x] }', 'b: { call: m, receive: [x] }'),
        path: 'steps.b',
        message: 'a and b both write "x", and neither is always before the other',
        at: '5:3',
      },
      {
        text: withFields('x: string', 'a: { call: m, receive: [x] }', `b: { inline: { x: "'y'" } }`),
        path: 'steps.b',
        message: 'a and b both write "x", and neither is always before the other',
        at: '6:3',
      },
    ],
  },

  'expressions.valid': {
    accepts: [
      withFields('score: double, near: string', `a: { when: "score >= 0.9 && near != ''", call: m }`),
      withFields('n: int, s: string', `a: { inline: { n: "size(s) + 1", s: "s + '!'" } }`),
    ],
    refuses: [
      {
        text: withFields('score: double', 'a: { when: "scor > 0.9", call: m }'),
        path: 'steps.a.when',
        message: `line 1, column 1: 'scor' is not a declared field; did you mean 'score'?`,
        at: '5:8',
      },
      {
        text: withFields('score: double', 'a: { when: score, call: m }'),
        path: 'steps.a.when',
        message: 'the value is a double, bool is needed',
        at: '5:8',
      },
      {
        text: withFields('score: double', 'a: { switch: [{ when: "score >", then: [] }] }'),
        path: 'steps.a.switch[0].when',
        message: 'line 1, column 7: found > but expecting end of input',
        at: '5:19',
      },
      {
        text: withSteps("a: { switch: [{ when: '', then: [] }] }"),
        path: 'steps.a.switch[0].when',
        message: 'an expression is needed, found an empty text',
        at: '4:19',
      },
      {
        text: withFields('n: int', `a: { inline: { n: "'1'" } }`),
        path: 'steps.a.inline.n',
        message: 'the value is a string, int is needed',
        at: '5:18',
      },
      {
        text: withFields('raw: bytes', `a: { when: "raw == 'x'", call: m }`),
        path: 'steps.a.when',
        message: "line 1, column 1: 'raw' is declared as bytes, which expressions cannot read; declare another type",
        at: '5:8',
      },
    ],
  },

  'limits.steps': {
    accepts: [withSteps(...numbered(1_000, (index) => `s${index}: { call: m }`))],
    refuses: [
      {
        text: 'flow: f\nbusiness: b\nsteps: {}',
        path: 'steps',
        message: 'found 0 steps; 1 to 1000 are allowed',
        at: '3:1',
      },
      {
        text: withSteps(...numbered(1_001, (index) => `s${index}: { call: m }`)),
        path: 'steps',
        message: 'found 1001 steps; 1 to 1000 are allowed',
        at: '3:1',
      },
    ],
  },
  'limits.cases': {
    accepts: [withSteps(`a: { switch: [${"{ when: 'true', then: [] },".repeat(1_000)}] }`)],
    refuses: [
      {
        text: withSteps(`a: { switch: [${"{ when: 'true', then: [] },".repeat(1_001)}] }`),
        path: 'steps.a.switch',
        message: 'found 1001 cases; 1 to 1000 are allowed',
        at: '4:8',
      },
      {
        text: withSteps('a: { switch: [] }'),
        path: 'steps.a.switch',
        message: 'found 0 cases; 1 to 1000 are allowed',
        at: '4:8',
      },
    ],
  },
  'limits.fields': {
    accepts: [
      withSteps(`a: { call: m, send: [${names(100)}], receive: [${names(100)}] }`),
      withFields(numbered(1_000, (index) => `f${index}: int`).join(', '), 'a: { call: m }'),
    ],
    refuses: [
      {
        text: withSteps(`a: { call: m, send: [${names(101)}] }`),
        path: 'steps.a.send',
        message: 'found 101 fields; at most 100 are allowed',
        at: '4:17',
      },
      {
        text: withSteps(`a: { call: m, receive: [${names(101)}] }`),
        path: 'steps.a.receive',
        message: 'found 101 fields; at most 100 are allowed',
        at: '4:17',
      },
      {
        text: withFields(numbered(1_001, (index) => `f${index}: int`).join(', '), 'a: { call: m }'),
        path: 'fields',
        message: 'found 1001 fields; at most 1000 are allowed',
        at: '3:1',
      },
    ],
  },
  'limits.assignments': {
    accepts: [withFields('n: int', "a: { inline: { n: '1' } }")],
    refuses: [
      {
        text: withSteps('a: { inline: {} }'),
        path: 'steps.a.inline',
        message: 'found 0 fields; 1 to 100 are allowed',
        at: '4:8',
      },
      {
        text: withFields(
          numbered(101, (index) => `f${index}: int`).join(', '),
          `a: { inline: { ${numbered(101, (index) => `f${index}: '1'`).join(', ')} } }`,
        ),
        path: 'steps.a.inline',
        message: 'found 101 fields; 1 to 100 are allowed',
        at: '5:8',
      },
    ],
  },
  'limits.writers': {
    accepts: [
      withSteps(
        ...numbered(32, (index) => `s${index}: { after: [${index ? `s${index - 1}` : ''}], call: m, receive: [x] }`),
      ),
    ],
    refuses: [
      {
        text: withSteps(
          ...numbered(33, (index) => `s${index}: { after: [${index ? `s${index - 1}` : ''}], call: m, receive: [x] }`),
        ),
        path: 'steps.s32',
        message: '33 steps write "x"; at most 32 are allowed',
        at: '36:3',
      },
    ],
  },
  'limits.exit-calls': {
    accepts: [withLine(`on_exit: [${'{ when: [FAILED], call: m },'.repeat(16)}]`)],
    refuses: [
      {
        text: withLine(`on_exit: [${'{ when: [FAILED], call: m },'.repeat(17)}]`),
        path: 'on_exit',
        message: 'found 17 exit calls; at most 16 are allowed',
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
  // Only texts of nearly the largest size come near it: see validate.test.ts.
  'limits.flow-size': { accepts: [minimal], refuses: [] },
  'limits.deadline': {
    accepts: [withLine('deadline: 400d')],
    refuses: [
      { text: withLine('deadline: 0s'), path: 'deadline', message: 'found 0ms; allowed is 1ms to 400d', at: '4:1' },
      { text: withLine('deadline: 401d'), path: 'deadline', message: 'found 401d; allowed is 1ms to 400d', at: '4:1' },
    ],
  },
  'limits.timeout': {
    accepts: [
      withSteps('a: { call: m, timeout: 24h }'),
      withLine('deadline: 10s\non_exit: [{ when: [FAILED], call: m, timeout: 1m }]'),
    ],
    refuses: [
      {
        text: withSteps('a: { call: m, timeout: 0ms }'),
        path: 'steps.a.timeout',
        message: 'found 0ms; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:17',
      },
      {
        text: withSteps('a: { call: m, timeout: 25h }'),
        path: 'steps.a.timeout',
        message: 'found 25h; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:17',
      },
    ],
  },
  'limits.tries': {
    accepts: [withSteps('a: { call: m, retry: { tries: 1 } }'), withSteps('a: { call: m, retry: { tries: 100 } }')],
    refuses: [0, 101, 1_000_000_000].map((tries) => ({
      text: withSteps(`a: { call: m, retry: { tries: ${tries} } }`),
      path: 'steps.a.retry.tries',
      message: `found ${tries}; allowed is 1 to 100`,
      at: '4:26',
    })),
  },
  'limits.backoff': {
    accepts: [
      withSteps('a: { call: m, retry: { first: 10s, max: 10s } }'),
      withSteps('a: { call: m, retry: { first: 11s } }'),
    ],
    refuses: [
      {
        text: withSteps('a: { call: m, retry: { first: 11s, max: 10s } }'),
        path: 'steps.a.retry.first',
        message: 'found 11s; allowed is 1ms to 10s, the longest pause',
        at: '4:26',
      },
      {
        text: withSteps('a: { call: m, retry: { first: 0ms } }'),
        path: 'steps.a.retry.first',
        message: 'found 0ms; allowed is 1ms to 10s, the longest pause',
        at: '4:26',
      },
      {
        text: withSteps('a: { call: m, retry: { max: 2d } }'),
        path: 'steps.a.retry.max',
        message: 'found 2d; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:26',
      },
    ],
  },
  'limits.losses': {
    accepts: [withSteps('a: { call: m, max_losses: 100 }')],
    refuses: [0, 101].map((losses) => ({
      text: withSteps(`a: { call: m, max_losses: ${losses} }`),
      path: 'steps.a.max_losses',
      message: `found ${losses}; allowed is 1 to 100`,
      at: '4:17',
    })),
  },
};

function problemsOf(text: string) {
  const result = parseFlow(text);
  return result.kind === 'problems' ? result.problems : [];
}

describe.each(Object.entries(cases))('%s', (rule, { accepts, refuses }) => {
  it.each(accepts)('accepts %#', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it.each(refuses)('refuses $message', ({ text, path, message, at }) => {
    const [line, column] = at.split(':').map(Number);
    expect(problemsOf(text)).toContainEqual({ rule, path, message, line, column });
  });
});

describe('the table above', () => {
  const brokenOnlyWithoutText: readonly string[] = ['names.unique', 'limits.flow-size'];

  it.each(Object.keys(rules))('has both sides of %s', (rule) => {
    const { accepts, refuses } = cases[rule as RuleId];
    expect(accepts.length).toBeGreaterThan(0);
    if (!brokenOnlyWithoutText.includes(rule)) expect(refuses.length).toBeGreaterThan(0);
  });
});

describe('parseFlow', () => {
  it('writes every default out', () => {
    const result = parseFlow(withSteps('a: { call: m }', "b: { after: [a], switch: [{ when: 'true', then: [] }] }"));
    const call = { module: 'm', timeoutMs: 10_000n, retry: { tries: 3, firstMs: 200n, maxMs: 10_000n }, maxLosses: 5 };
    const choice = { cases: [{ when: 'true' }], noMatch: NoMatch.FAIL };
    const flow = create(FlowSchema, {
      name: 'f',
      business: 'b',
      deadlineMs: 86_400_000n,
      steps: [
        { id: 'a', kind: { case: 'call', value: call } },
        { id: 'b', after: ['a'], kind: { case: 'switch', value: choice } },
      ],
    });
    expect(result).toEqual({ kind: 'flow', flow });
  });

  it('tells all problems at once, in the order of the text', () => {
    const text = [
      'flow: F',
      'bussiness: b',
      'steps:',
      '  a: { call: m, after: [a] }',
      '  b: { call: M, timeout: soon }',
    ].join('\n');
    expect(problemsOf(text).map(({ line, column, rule }) => `${line}:${column} ${rule}`)).toEqual([
      '1:1 shape.required',
      '1:1 names.flow',
      '2:1 shape.unknown-key',
      '4:3 graph.ring',
      '5:8 names.module',
      '5:17 shape.duration',
    ]);
  });

  it('tells every ring', () => {
    const text = withSteps(
      'a: { after: [b], call: m }',
      'b: { after: [a], call: m }',
      'c: { after: [b, d], call: m }',
      'd: { after: [c], call: m }',
    );
    expect(problemsOf(text).map(({ message }) => message)).toEqual([
      'a step cannot wait for itself: a -> b -> a',
      'a step cannot wait for itself: c -> d -> c',
    ]);
  });

  it('stops at a hundred problems', () => {
    expect(problemsOf(numbered(5_000, (index) => `k${index}: 1`).join('\n'))).toHaveLength(100);
  });

  it('refuses an alias bomb without building it', () => {
    const bomb = [
      'a: &a [x]',
      ...numbered(30, (index) => `b${index}: &b${index} [${`*${index ? `b${index - 1}` : 'a'},`.repeat(9)}]`),
    ];
    const found = new Set(problemsOf(bomb.join('\n')).map(({ rule }) => rule));
    expect(found).toContain('syntax.alias');
  });

  it('leaves prototypes alone', () => {
    problemsOf('__proto__: { polluted: yes }\nconstructor: { prototype: { polluted: yes } }');
    problemsOf(withFields('j: { type: json, default: { __proto__: { polluted: yes } } }', 'a: { call: m }'));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('answers whatever the text is, and what it accepts compiles', () => {
    const seeds = [
      withFields(
        "score: double, near: { type: string, default: '' }",
        'a: { call: m, receive: [score], timeout: 2s, retry: { tries: 5 } }',
        `b: { after: [a], switch: [{ when: "score >= 0.9 && near != ''", then: [c] }], otherwise: [] }`,
        `c: { when: 'score > 0.5', inline: { near: "near + 'x'" } }`,
      ),
      '{"flow":"f","business":"b","steps":{"a":{"call":"m","after":[]}},"on_exit":[{"when":["FAILED"],"call":"m"}]}',
    ];
    const signs = [
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      "'",
      '\n',
      ' ',
      '\t',
      '-',
      '?',
      '&a ',
      '*a',
      '!',
      '|',
      '>',
      '#',
      '%',
      '\u0000',
      'é',
      '9',
      'a',
    ];
    let state = 1;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let round = 0; round < 3_000; round++) {
      let text = seeds[round % seeds.length] ?? '';
      for (let edits = 1 + next(4); edits > 0; edits--) {
        const at = next(text.length);
        text = text.slice(0, at) + (next(2) === 0 ? (signs[next(signs.length)] ?? '') : '') + text.slice(at + next(3));
      }
      const result = parseFlow(text);
      if (result.kind === 'flow') compileFlow(result.flow, 1);
      else expect(result.problems.length, text).toBeGreaterThan(0);
    }
  });
});

describe('defaults of a call', () => {
  const callOf = (text: string) => {
    const parsed = parseFlow(text);
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    const kind = parsed.flow.steps[0]?.kind;
    if (kind?.case !== 'call') throw new Error('the step is no call');
    const { timeoutMs, retry } = kind.value;
    return { timeoutMs, firstMs: retry?.firstMs, maxMs: retry?.maxMs };
  };
  const flow = (deadline: string, step: string) =>
    `flow: f\nbusiness: b\ndeadline: ${deadline}\nsteps:\n  a: { call: m${step} }\n`;

  it('are cut to a short deadline', () => {
    expect(callOf(flow('100ms', ''))).toEqual({ timeoutMs: 100n, firstMs: 100n, maxMs: 100n });
  });

  it('give way to what the author says of the other pause', () => {
    expect(callOf(flow('1h', ', retry: { max: 50ms }'))).toEqual({ timeoutMs: 10_000n, firstMs: 50n, maxMs: 50n });
    expect(callOf(flow('1h', ', retry: { first: 20s }'))).toEqual({
      timeoutMs: 10_000n,
      firstMs: 20_000n,
      maxMs: 20_000n,
    });
  });
});
