// Rules of names.

import { letters, minimal, withFields, withLine, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const namesCases: CasesOf<'names'> = {
  'names.flow': {
    accepts: [
      minimal,
      minimal.replace('flow: f', `flow: ${letters(64)}`),
      minimal.replace('business: b', 'business: b-2_x'),
      withSteps('a: { sub_flow: g-2_x }', 'b: { start_flow: g-2_x }'),
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
      {
        text: withSteps('a: { sub_flow: Child }'),
        path: 'steps.a.sub_flow',
        message: 'a flow cannot be called "Child"; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '4:8',
      },
      {
        text: withSteps("a: { start_flow: '' }"),
        path: 'steps.a.start_flow',
        message: 'a flow cannot be called ""; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '4:8',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, sub_flow: g/h, into: all }"),
        path: 'steps.a.sub_flow',
        message: 'a flow cannot be called "g/h"; allowed is [a-z][a-z0-9_-]*, up to 64 characters',
        at: '5:35',
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
      {
        text: withSteps('a: { wait: { signal: s, receive: [Reviewer] } }'),
        path: 'steps.a.wait.receive[0]',
        message: 'a field cannot be called "Reviewer"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:37',
      },
      {
        text: withSteps('a: { callback: m, receive: [a-b] }'),
        path: 'steps.a.receive[0]',
        message: 'a field cannot be called "a-b"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:31',
      },
      {
        text: withSteps('a: { sub_flow: g, send: [A] }'),
        path: 'steps.a.send[0]',
        message: 'a field cannot be called "A"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:28',
      },
      {
        text: withSteps('a: { start_flow: g, send: [A] }'),
        path: 'steps.a.send[0]',
        message: 'a field cannot be called "A"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:30',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: Page, call: m, into: all }"),
        path: 'steps.a.as',
        message: 'a field cannot be called "Page"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '5:25',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: A }"),
        path: 'steps.a.into',
        message: 'a field cannot be called "A"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '5:44',
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
  'names.url': {
    accepts: [
      withSteps(
        "a: { callback: 'http://example.org' }",
        "b: { callback: 'https://example.org:8443/hook?kind=a&b=%20' }",
        "c: { callback: 'HTTPS://EXAMPLE.ORG/' }",
        "d: { callback: 'http://127.0.0.1:9/' }",
        "e: { callback: 'http://[::1]:8080/x' }",
        "f: { callback: 'https://a-b.example/~x/(1);v=2' }",
        "g: { callback: 'http://localhost' }",
      ),
      withLine("on_exit: [{ when: [FAILED], url: 'https://example.org/hook' }]"),
      withSteps(`a: { callback: 'https://example.org/${letters(2_028)}' }`),
    ],
    refuses: [
      {
        text: withSteps("a: { callback: 'ftp://example.org' }"),
        path: 'steps.a.callback',
        message: 'an address begins with http:// or https:// and a host',
        at: '4:8',
      },
      {
        text: withSteps("a: { callback: 'http:///path' }"),
        path: 'steps.a.callback',
        message: 'an address begins with http:// or https:// and a host',
        at: '4:8',
      },
      {
        text: withSteps("a: { callback: 'https://user:secret@example.org' }"),
        path: 'steps.a.callback',
        message: 'an address has no user and password: flows are read by many',
        at: '4:8',
      },
      {
        text: withSteps("a: { callback: 'https://example.org/#part' }"),
        path: 'steps.a.callback',
        message: 'an address has no fragment (#…): it is never sent',
        at: '4:8',
      },
      {
        text: withSteps("a: { callback: 'https://example.org:70000/' }"),
        path: 'steps.a.callback',
        message: 'the host of an address is a name or a number, with a port of 1 to 65535',
        at: '4:8',
      },
      {
        text: withSteps("a: { callback: 'https://-example.org' }"),
        path: 'steps.a.callback',
        message: 'the host of an address is a name or a number, with a port of 1 to 65535',
        at: '4:8',
      },
      {
        text: withSteps("a: { callback: 'https://example.org/a b' }"),
        path: 'steps.a.callback',
        message: 'an address is ASCII without blanks; write other signs as %…',
        at: '4:8',
      },
      {
        text: withSteps(`a: { callback: 'https://example.org/${letters(2_029)}' }`),
        path: 'steps.a.callback',
        message: 'found 2049 characters; an address has at most 2048',
        at: '4:8',
      },
      {
        text: withLine("on_exit: [{ when: [FAILED], url: 'https://example.org/#part' }]"),
        path: 'on_exit[0].url',
        message: 'an address has no fragment (#…): it is never sent',
        at: '4:29',
      },
      {
        text: withLine('on_exit: [{ when: [FAILED], url: audit.notify }]'),
        path: 'on_exit[0].url',
        message: 'an address begins with http:// or https://, found "audit.notify"',
        at: '4:29',
      },
    ],
  },
  'names.signal': {
    accepts: [withSteps('a: { wait: { signal: approved_2 } }', 'b: { after: [a], wait: { signal: approved_2 } }')],
    refuses: [
      {
        text: withSteps('a: { wait: { signal: Approved } }'),
        path: 'steps.a.wait.signal',
        message: 'a signal cannot be called "Approved"; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:16',
      },
      {
        text: withSteps("a: { wait: { signal: '' } }"),
        path: 'steps.a.wait.signal',
        message: 'a signal cannot be called ""; allowed is [a-z][a-z0-9_]*, up to 64 characters',
        at: '4:16',
      },
    ],
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
};
