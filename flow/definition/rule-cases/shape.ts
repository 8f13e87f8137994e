// Rules of keys and values.

import { minimal, withFields, withLine, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const shapeCases: CasesOf<'shape'> = {
  'shape.value': {
    accepts: [withLine('description: text'), withSteps('a: { call: m }', 'b: { after: [a], join: {} }')],
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
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: all }'),
        path: 'steps.b.join',
        message: 'join is a map, found "all"',
        at: '5:20',
      },
      {
        text: withSteps('a: { wait: 10m }'),
        path: 'steps.a.wait',
        message: 'a wait is a map, found "10m"',
        at: '4:8',
      },
      {
        text: withSteps('a: { wait: { signal: 5 } }'),
        path: 'steps.a.wait.signal',
        message: 'the name of a signal is a text, found the number 5; put it in quotes',
        at: '4:16',
      },
      {
        text: withSteps('a: { callback: [m] }'),
        path: 'steps.a.callback',
        message: 'the module of a call is a text, found a list',
        at: '4:8',
      },
      {
        text: withSteps('a: { sub_flow: { name: g } }'),
        path: 'steps.a.sub_flow',
        message: 'the name of a flow is a text, found a map',
        at: '4:8',
      },
      {
        text: withSteps('a: { start_flow: 5 }'),
        path: 'steps.a.start_flow',
        message: 'the name of a flow is a text, found the number 5; put it in quotes',
        at: '4:8',
      },
      {
        text: withFields('all: json', 'a: { for_each: [1, 2], as: page, call: m, into: all }'),
        path: 'steps.a.for_each',
        message: 'an expression is a text, found a list',
        at: '5:8',
      },
      {
        text: withLine('on_exit: [{ when: [FAILED], url: 5 }]'),
        path: 'on_exit[0].url',
        message: 'an address is a text, found the number 5; put it in quotes',
        at: '4:29',
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
        message: 'an exit call has no key "receive"; allowed are when, call, url, send, timeout, retry, max_losses',
        at: '4:38',
      },
      {
        text: withSteps('a: { call: m, retry: { first: 1s, maximum: 2s } }'),
        path: 'steps.a.retry.maximum',
        message: 'retry has no key "maximum"; allowed are tries, first, max',
        at: '4:37',
      },
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: { needs: 1 } }'),
        path: 'steps.b.join.needs',
        message: `join has no key "needs"; did you mean 'need'?`,
        at: '5:28',
      },
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: {}, timeout: 1s }'),
        path: 'steps.b.timeout',
        message: 'a join step has no key "timeout"; allowed are after, when, join',
        at: '5:30',
      },
      {
        text: withSteps('a: { wait: { for: 1s, receive: [x] } }'),
        path: 'steps.a.wait.receive',
        message: 'a wait for a time has no key "receive"; allowed are for',
        at: '4:25',
      },
      {
        text: withSteps("a: { wait: { until: '5', timeout: 1s } }"),
        path: 'steps.a.wait.timeout',
        message: 'a wait until a time has no key "timeout"; allowed are until',
        at: '4:28',
      },
      {
        text: withSteps('a: { wait: { signal: s, send: [x] } }'),
        path: 'steps.a.wait.send',
        message: 'a wait for a signal has no key "send"; allowed are signal, receive, timeout, on_timeout',
        at: '4:27',
      },
      {
        text: withSteps('a: { callback: m, answer_in: 1h }'),
        path: 'steps.a.answer_in',
        message:
          'a callback step has no key "answer_in"; allowed are after, when, callback, send, receive, timeout, retry, max_losses, answer_within',
        at: '4:21',
      },
      {
        text: withSteps('a: { sub_flow: g, timeout: 1s }'),
        path: 'steps.a.timeout',
        message: 'a sub_flow step has no key "timeout"; allowed are after, when, sub_flow, version, send, receive',
        at: '4:21',
      },
      {
        text: withSteps('a: { start_flow: g, receive: [x] }'),
        path: 'steps.a.receive',
        message: 'a start_flow step has no key "receive"; allowed are after, when, start_flow, send, max_generations',
        at: '4:23',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, into: all, sub_flow: g, timeout: 1s }"),
        path: 'steps.a.timeout',
        message:
          'a for_each step has no key "timeout"; allowed are after, when, for_each, as, into, concurrency, max_failures, sub_flow, version, send, receive',
        at: '5:59',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, into: all, call: m, version: 3 }"),
        path: 'steps.a.version',
        message:
          'a for_each step has no key "version"; allowed are after, when, for_each, as, into, concurrency, max_failures, call, send, receive, timeout, retry, max_losses',
        at: '5:55',
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
      {
        text: withFields('all: json', "a: { for_each: '[1]', call: m, into: all }"),
        path: 'steps.a',
        message: "a for_each step needs the key 'as'",
        at: '5:3',
      },
      {
        text: withSteps("a: { for_each: '[1]', as: page, call: m }"),
        path: 'steps.a',
        message: "a for_each step needs the key 'into'",
        at: '4:3',
      },
    ],
  },
  'shape.kind': {
    accepts: [
      withSteps('a: { call: m }'),
      withFields('s: string', `a: { inline: { s: "'x'" } }`),
      withSteps('a: { call: m }', 'b: { after: [a], join: {} }'),
      withSteps('a: { wait: { for: 10m } }', "b: { wait: { until: '5' } }", 'c: { wait: { signal: s } }'),
      withSteps('a: { callback: m }', 'b: { sub_flow: g }', 'c: { start_flow: g }'),
      withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: all }"),
      withFields('all: json', "a: { for_each: '[1]', as: page, sub_flow: g, version: 3, into: all }"),
      withLine("on_exit: [{ when: [FAILED], url: 'https://example.org/hook' }]"),
    ],
    refuses: [
      {
        text: withSteps('a: { after: [] }'),
        path: 'steps.a',
        message:
          'a step has exactly one of the keys call, switch, inline, join, wait, callback, sub_flow, start_flow, for_each, found none',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m, inline: {} }'),
        path: 'steps.a',
        message:
          'a step has exactly one of the keys call, switch, inline, join, wait, callback, sub_flow, start_flow, for_each, found call and inline',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m, callback: m }'),
        path: 'steps.a',
        message:
          'a step has exactly one of the keys call, switch, inline, join, wait, callback, sub_flow, start_flow, for_each, found call and callback',
        at: '4:3',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', inline: {}, as: page, call: m, into: all }"),
        path: 'steps.a',
        message:
          'a step has exactly one of the keys switch, inline, join, wait, callback, start_flow, for_each, found inline and for_each',
        at: '5:3',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, into: all }"),
        path: 'steps.a',
        message: 'a for_each step has exactly one of the keys call, sub_flow, found none',
        at: '5:3',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, sub_flow: g, into: all }"),
        path: 'steps.a',
        message: 'a for_each step has exactly one of the keys call, sub_flow, found call and sub_flow',
        at: '5:3',
      },
      {
        text: withSteps('a: { wait: {} }'),
        path: 'steps.a.wait',
        message: 'a wait has exactly one of the keys for, until, signal, found none',
        at: '4:8',
      },
      {
        text: withSteps('a: { wait: { for: 1s, signal: s } }'),
        path: 'steps.a.wait',
        message: 'a wait has exactly one of the keys for, until, signal, found for and signal',
        at: '4:8',
      },
      {
        text: withLine('on_exit: [{ when: [FAILED] }]'),
        path: 'on_exit[0]',
        message: 'an exit call has exactly one of the keys call, url, found none',
        at: '4:11',
      },
      {
        text: withLine("on_exit: [{ when: [FAILED], call: m, url: 'https://example.org' }]"),
        path: 'on_exit[0]',
        message: 'an exit call has exactly one of the keys call, url, found call and url',
        at: '4:11',
      },
    ],
  },
  'shape.number': {
    accepts: [
      withSteps('a: { call: m, max_losses: 3 }'),
      withSteps(
        'a: { call: m }',
        'b: { call: m }',
        'c: { after: [a, b], join: { need: any } }',
        'd: { after: [a, b], join: { need: all } }',
      ),
      withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: all, max_failures: all }"),
    ],
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
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: { need: most } }'),
        path: 'steps.b.join.need',
        message: 'a whole number from 1 or all or any is needed, found "most"',
        at: '5:28',
      },
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: { need: 0 } }'),
        path: 'steps.b.join.need',
        message: 'a whole number from 1 or all or any is needed, found the number 0',
        at: '5:28',
      },
      {
        text: withSteps('a: { sub_flow: g, version: 0 }'),
        path: 'steps.a.version',
        message: 'a whole number from 1 is needed, found the number 0',
        at: '4:21',
      },
      {
        text: withSteps('a: { start_flow: g, max_generations: many }'),
        path: 'steps.a.max_generations',
        message: 'a whole number is needed, found "many"',
        at: '4:23',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: all, max_failures: any }"),
        path: 'steps.a.max_failures',
        message: 'a whole number or all is needed, found "any"',
        at: '5:55',
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
      withSteps(
        'a: { call: m }',
        'b: { call: m }',
        'c: { after: [a, b], join: { need: any, losers: cancel } }',
        'd: { after: [a, b], join: { need: any, losers: wait } }',
      ),
      withSteps(
        'a: { wait: { signal: s, timeout: 1h, on_timeout: pass } }',
        'b: { wait: { signal: s, timeout: 1h, on_timeout: fail } }',
      ),
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
      {
        text: withSteps('a: { call: m }', 'b: { call: m }', 'c: { after: [a, b], join: { need: 1, losers: abort } }'),
        path: 'steps.c.join.losers',
        message: 'losers cannot be "abort"; allowed are wait, cancel',
        at: '6:40',
      },
      {
        text: withSteps('a: { wait: { signal: s, timeout: 1h, on_timeout: skip } }'),
        path: 'steps.a.wait.on_timeout',
        message: 'on_timeout cannot be "skip"; allowed are fail, pass',
        at: '4:40',
      },
    ],
  },
};
