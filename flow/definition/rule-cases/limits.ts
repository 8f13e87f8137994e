// Rules of sizes, counts and times.

import { letters, minimal, names, numbered, withFields, withLine, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const limitsCases: CasesOf<'limits'> = {
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
      {
        text: withSteps(`a: { wait: { signal: s, receive: [${names(101)}] } }`),
        path: 'steps.a.wait.receive',
        message: 'found 101 fields; at most 100 are allowed',
        at: '4:27',
      },
      {
        text: withSteps(`a: { sub_flow: g, receive: [${names(101)}] }`),
        path: 'steps.a.receive',
        message: 'found 101 fields; at most 100 are allowed',
        at: '4:21',
      },
      {
        text: withSteps(`a: { start_flow: g, send: [${names(101)}] }`),
        path: 'steps.a.send',
        message: 'found 101 fields; at most 100 are allowed',
        at: '4:23',
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
  'limits.signals': {
    accepts: [withSteps(...numbered(101, (index) => `w${index}: { wait: { signal: s${index % 100} } }`))],
    refuses: [
      {
        text: withSteps(...numbered(101, (index) => `w${index}: { wait: { signal: s${index} } }`)),
        path: 'steps',
        message: 'found 101 signals; at most 100 are allowed',
        at: '3:1',
      },
    ],
  },
  'limits.generations': {
    accepts: [withSteps('a: { start_flow: f, max_generations: 1 }', 'b: { start_flow: g, max_generations: 10000 }')],
    refuses: [
      {
        text: withSteps('a: { start_flow: f, max_generations: 0 }'),
        path: 'steps.a.max_generations',
        message: 'found 0 generations; 1 to 10000 are allowed',
        at: '4:23',
      },
      {
        text: withSteps('a: { start_flow: f, max_generations: 10001 }'),
        path: 'steps.a.max_generations',
        message: 'found 10001 generations; 1 to 10000 are allowed',
        at: '4:23',
      },
    ],
  },
  'limits.concurrency': {
    accepts: [
      withFields(
        'all: json, more: json',
        "a: { for_each: '[1]', as: page, call: m, into: all, concurrency: 1 }",
        "b: { for_each: '[1]', as: page, call: m, into: more, concurrency: 256 }",
      ),
    ],
    refuses: [
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: all, concurrency: 0 }"),
        path: 'steps.a.concurrency',
        message: 'found 0 branches; 1 to 256 are allowed',
        at: '5:55',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, sub_flow: g, into: all, concurrency: 257 }"),
        path: 'steps.a.concurrency',
        message: 'found 257 branches; 1 to 256 are allowed',
        at: '5:59',
      },
    ],
  },
  'limits.max-failures': {
    accepts: [
      withFields(
        'all: json, more: json',
        "a: { for_each: '[1]', as: page, call: m, into: all, max_failures: 10000 }",
        "b: { for_each: '[1]', as: page, call: m, into: more, max_failures: all }",
      ),
    ],
    refuses: [
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, into: all, max_failures: 10001 }"),
        path: 'steps.a.max_failures',
        message: 'found 10001 branches; at most 10000 are allowed',
        at: '5:55',
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
      withSteps('a: { wait: { signal: s, timeout: 24h } }'),
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
      {
        text: withSteps('a: { callback: m, timeout: 25h }'),
        path: 'steps.a.timeout',
        message: 'found 25h; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:21',
      },
      {
        text: withSteps('a: { wait: { signal: s, timeout: 25h } }'),
        path: 'steps.a.wait.timeout',
        message: 'found 25h; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:27',
      },
      {
        text: withSteps('a: { wait: { signal: s, timeout: 0ms } }'),
        path: 'steps.a.wait.timeout',
        message: 'found 0ms; a timeout is 1ms or more',
        at: '4:27',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, call: m, timeout: 25h, into: all }"),
        path: 'steps.a.timeout',
        message: 'found 25h; allowed is 1ms to 1d, the deadline of the flow',
        at: '5:44',
      },
    ],
  },
  'limits.answer-within': {
    accepts: [withSteps('a: { callback: m, answer_within: 24h }')],
    refuses: [
      {
        text: withSteps('a: { callback: m, answer_within: 0s }'),
        path: 'steps.a.answer_within',
        message: 'found 0ms; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:21',
      },
      {
        text: withSteps('a: { callback: m, answer_within: 2d }'),
        path: 'steps.a.answer_within',
        message: 'found 2d; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:21',
      },
    ],
  },
  'limits.wait': {
    accepts: [withSteps('a: { wait: { for: 1ms } }', 'b: { wait: { for: 24h } }')],
    refuses: [
      {
        text: withSteps('a: { wait: { for: 0s } }'),
        path: 'steps.a.wait.for',
        message: 'found 0ms; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:16',
      },
      {
        text: withSteps('a: { wait: { for: 2d } }'),
        path: 'steps.a.wait.for',
        message: 'found 2d; allowed is 1ms to 1d, the deadline of the flow',
        at: '4:16',
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
