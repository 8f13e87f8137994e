// Rules of fields and expressions.

import { withFields, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const fieldsCases: CasesOf<'fields' | 'expressions'> = {
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
  'fields.element': {
    accepts: [
      withFields('all: json', "a: { for_each: '[1]', as: page, call: m, send: [title], into: all }"),
      withFields('all: json, page: string', "a: { for_each: '[1]', as: page, call: m, into: all }"),
      withFields('all: json, page: json', "a: { for_each: '[1]', as: page, sub_flow: g, into: all }"),
    ],
    refuses: [
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, send: [title, page], into: all }"),
        path: 'steps.a.as',
        message: '"page" is sent already; under this name a branch sends its element',
        at: '5:25',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, sub_flow: g, send: [page], into: all }"),
        path: 'steps.a.as',
        message: '"page" is sent already; under this name a branch sends its element',
        at: '5:25',
      },
      {
        text: withFields('all: json, page: int', "a: { for_each: '[1]', as: page, call: m, into: all }"),
        path: 'steps.a.as',
        message: '"page" is declared as int; an element is a string or json',
        at: '5:25',
      },
    ],
  },
  'fields.results': {
    accepts: [withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: all }")],
    refuses: [
      {
        text: withFields('results: json', "a: { for_each: '[1]', as: page, call: m, into: result }"),
        path: 'steps.a.into',
        message: `"result" is not a declared field; did you mean 'results'?`,
        at: '5:44',
      },
      {
        text: withFields('all: string', "a: { for_each: '[1]', as: page, call: m, into: all }"),
        path: 'steps.a.into',
        message: '"all" is declared as string; the results of a list are json',
        at: '5:44',
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
      withSteps(
        'a: { callback: m, receive: [x] }',
        'b: { after: [a], sub_flow: g, receive: [x] }',
        'c: { after: [b], wait: { signal: s, receive: [x] } }',
      ),
      // What the branches of a list receive goes into the results.
      withFields(
        'all: json',
        'a: { call: m, receive: [x] }',
        "b: { for_each: '[1]', as: page, call: m, receive: [x], into: all }",
      ),
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
      {
        text: withSteps('a: { callback: m, receive: [x] }', 'b: { sub_flow: g, receive: [x] }'),
        path: 'steps.b',
        message: 'a and b both write "x", and neither is always before the other',
        at: '5:3',
      },
      {
        text: withSteps('a: { call: m, receive: [x] }', 'b: { wait: { signal: s, receive: [x] } }'),
        path: 'steps.b',
        message: 'a and b both write "x", and neither is always before the other',
        at: '5:3',
      },
      {
        text: withFields(
          'all: json',
          "a: { for_each: '[1]', as: page, call: m, into: all }",
          "b: { for_each: '[2]', as: page, call: m, into: all }",
        ),
        path: 'steps.b',
        message: 'a and b both write "all", and neither is always before the other',
        at: '6:3',
      },
    ],
  },
  'expressions.valid': {
    accepts: [
      withFields('score: double, near: string', `a: { when: "score >= 0.9 && near != ''", call: m }`),
      withFields('n: int, s: string', `a: { inline: { n: "size(s) + 1", s: "s + '!'" } }`),
      withFields(
        'at: string, due: int, page: json',
        'a: { wait: { until: at } }',
        "b: { wait: { until: 'due + 1000' } }",
        'c: { wait: { until: page.due } }',
      ),
      withFields(
        'pages: json, all: json',
        'a: { for_each: pages, as: page, call: m, into: all }',
        "b: { after: [a], for_each: 'pages.filter(each, each > 1)', as: page, call: m, into: all }",
      ),
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
      {
        text: withFields('late: bool', 'a: { wait: { until: late } }'),
        path: 'steps.a.wait.until',
        message: 'the value is a bool, int or string is needed',
        at: '5:16',
      },
      {
        text: withSteps("a: { wait: { until: '' } }"),
        path: 'steps.a.wait.until',
        message: 'an expression is needed, found an empty text',
        at: '4:16',
      },
      {
        text: withSteps('a: { wait: { until: tomorrow } }'),
        path: 'steps.a.wait.until',
        message: "line 1, column 1: 'tomorrow' is not a declared field",
        at: '4:16',
      },
      {
        text: withFields('count: int, all: json', 'a: { for_each: count, as: page, call: m, into: all }'),
        path: 'steps.a.for_each',
        message: 'the value is an int, list is needed',
        at: '5:8',
      },
      {
        text: withFields('all: json', `a: { for_each: '{"a": 1}', as: page, call: m, into: all }`),
        path: 'steps.a.for_each',
        message: 'the value is a map, list is needed',
        at: '5:8',
      },
      {
        text: withFields('pages: json, all: json', 'a: { for_each: page, as: page, call: m, into: all }'),
        path: 'steps.a.for_each',
        message: "line 1, column 1: 'page' is not a declared field; did you mean 'pages'?",
        at: '5:8',
      },
    ],
  },
};
