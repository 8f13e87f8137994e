// Texts that nobody would write: whatever they are, parseFlow answers, and what it accepts compiles.

import { describe, expect, it } from 'vitest';
import { compileFlow } from '../compile.ts';
import { parseFlow } from './definition.ts';
import { withFields } from './rule-cases/flow-texts.ts';
import { commonStepKeys, stepKindNames, stepKinds } from './step-kinds.ts';
import { validateFlow } from './validate.ts';

/** A number below `limit`, the same in every run of the tests. */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Thousands of texts take seconds where other tests run beside them. */
const timeoutMs = 60_000;

/** Whether the text is accepted; fails when what is accepted can't be used. */
function isAccepted(text: string): boolean {
  const result = parseFlow(text);
  if (result.kind === 'flow') {
    expect(validateFlow(result.flow), text).toEqual([]);
    compileFlow(result.flow, 1);
    return true;
  }
  expect(result.problems.length, text).toBeGreaterThan(0);
  return false;
}

describe('texts with signs put in and taken out', () => {
  const seeds: Record<string, string> = {
    'calls, switches and inline steps': withFields(
      "score: double, near: { type: string, default: '' }",
      'a: { call: m, receive: [score], timeout: 2s, retry: { tries: 5 } }',
      `b: { after: [a], switch: [{ when: "score >= 0.9 && near != ''", then: [c] }], otherwise: [] }`,
      `c: { when: 'score > 0.5', inline: { near: "near + 'x'" } }`,
    ),
    'all other kinds of steps': withFields(
      'pages: json, all: json',
      'a: { callback: media.transcode, receive: [pages], answer_within: 2h }',
      'b: { after: [a], wait: { signal: approved, timeout: 24h, on_timeout: pass } }',
      'c: { after: [a], wait: { until: pages.due } }',
      'd: { after: [b, c], join: { need: any, losers: cancel } }',
      'e: { after: [d], for_each: pages.list, as: page, call: ocr.page, receive: [text], into: all, max_failures: all }',
      'g: { after: [e], sub_flow: child, send: [all], version: 3 }',
      'h: { after: [g], start_flow: f, max_generations: 7 }',
    ),
    'exit calls, as JSON':
      '{"flow":"f","business":"b","steps":{"a":{"call":"m","after":[]}},"on_exit":[{"when":["FAILED"],"url":"http://h"}]}',
  };
  const signs = ['&a ', '*a', ...`{ } [ ] : , " ' - ? ! | > # % \u0000 é 9 a \n \t`.split(' '), ' '];

  it.each(Object.entries(seeds))(
    '%s',
    (_what, seed) => {
      const random = randomFrom(1);
      for (let round = 0; round < 1_000; round++) {
        let text = seed;
        for (let edits = 1 + random(4); edits > 0; edits--) {
          const at = random(text.length);
          const added = random(2) === 0 ? (signs[random(signs.length)] ?? '') : '';
          text = text.slice(0, at) + added + text.slice(at + random(3));
        }
        isAccepted(text);
      }
    },
    timeoutMs,
  );
});

describe('steps of keys and values in any combination', () => {
  const fitting: Readonly<Record<string, readonly unknown[]>> = {
    after: [['a'], ['a', 'b'], ['b']],
    when: ['due > 1'],
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
    switch: [[{ when: 'due > 1', then: ['b'] }]],
    otherwise: [[]],
    no_match: ['pass', 'fail'],
    inline: [{ all: '[due]' }],
    join: [{}, { need: 'any', losers: 'cancel' }, { need: 2 }],
    wait: [{ for: '1h' }, { until: 'due' }, { signal: 's', receive: ['x'] }],
    for_each: ['pages', '[1, 2]'],
    as: ['page'],
    into: ['all'],
    max_failures: ['all', 3],
    call: ['m'],
    callback: ['m', 'http://h'],
    sub_flow: ['g'],
    start_flow: ['f', 'g'],
    send: [['x'], []],
    receive: [['x'], []],
    retry: [{ tries: 2 }],
    timeout: ['1s'],
    answer_within: ['1h'],
    max_losses: [3],
    version: [1],
    max_generations: [7],
    concurrency: [8],
  };
  const unfitting = [...new Set(Object.values(fitting).flat()), null, 'f', ['x', 'x'], 0, 1.5, '2d', { need: 3 }, {}];

  it(
    'are refused, or make a flow',
    () => {
      const random = randomFrom(2);
      const pick = <Value>(all: readonly Value[]): Value => all[random(all.length)] as Value;
      let accepted = 0;
      for (let round = 0; round < 1_000; round++) {
        const step = (): Record<string, unknown> => {
          const kind = pick(stepKindNames);
          const others = [...commonStepKeys, ...stepKinds[kind]].filter(() => random(2) === 0);
          const value = (key: string): unknown => pick(random(30) === 0 ? unfitting : (fitting[key] ?? unfitting));
          return Object.fromEntries([kind, ...others].map((key) => [key, value(key)]));
        };
        const steps = { a: { call: 'm' }, b: { call: 'm' }, c: step(), ...(random(2) === 0 && { d: step() }) };
        const fields = { pages: 'json', all: 'json', due: 'int' };
        if (isAccepted(JSON.stringify({ flow: 'f', business: 'b', fields, steps }))) accepted++;
      }
      // Were all refused, nothing would be shown of what is accepted.
      expect(accepted).toBeGreaterThan(200);
    },
    timeoutMs,
  );
});
