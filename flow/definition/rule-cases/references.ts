// Rules of what is named.

import { withFields, withLine, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const referencesCases: CasesOf<'references'> = {
  'references.step': {
    accepts: [
      withSteps('a: { call: m }', 'b: { after: [a], call: m }', 'c: { after: [], call: m }'),
      withSteps('a: { call: m }', 'b: { after: [a], join: {} }'),
    ],
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
      {
        text: withSteps('parse: { call: m }', 'b: { after: [parse, pars], join: {} }'),
        path: 'steps.b.after[1]',
        message: `no step is called "pars"; did you mean 'parse'?`,
        at: '5:23',
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
      {
        text: withSteps('a: { call: m }', 'b: { after: [a, a], join: { need: 2 } }'),
        path: 'steps.b.after[1]',
        message: 'stands here again; first as [0]',
        at: '5:19',
      },
      {
        text: withSteps('a: { wait: { signal: s, receive: [x, x] } }'),
        path: 'steps.a.wait.receive[1]',
        message: 'stands here again; first as [0]',
        at: '4:40',
      },
      {
        text: withSteps('a: { sub_flow: g, send: [x, x] }'),
        path: 'steps.a.send[1]',
        message: 'stands here again; first as [0]',
        at: '4:31',
      },
      {
        text: withSteps('a: { start_flow: g, send: [x, x] }'),
        path: 'steps.a.send[1]',
        message: 'stands here again; first as [0]',
        at: '4:33',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, sub_flow: g, receive: [x, x], into: all }"),
        path: 'steps.a.receive[1]',
        message: 'stands here again; first as [0]',
        at: '5:61',
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
  'references.on-timeout': {
    accepts: [
      withSteps(
        'a: { wait: { signal: s, timeout: 1h, on_timeout: pass } }',
        'b: { wait: { signal: s, on_timeout: fail } }',
      ),
    ],
    refuses: [
      {
        text: withSteps('a: { wait: { signal: s, on_timeout: pass } }'),
        path: 'steps.a.wait.on_timeout',
        message: 'a signal without a timeout is awaited until the deadline, at which the run fails',
        at: '4:27',
      },
    ],
  },
};
