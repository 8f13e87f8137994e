// Texts of flows: the cases of every rule (rule-cases.ts), and what holds for all texts.

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExitState, FieldType, FlowSchema, Losers, NoMatch, OnTimeout } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { parseFlow } from './definition.ts';
import { linkRules } from './link.ts';
import { numbered, withFields, withSteps } from './rule-cases/flow-texts.ts';
import type { TextRule } from './rule-cases/rule-case.ts';
import { ruleCases } from './rule-cases.ts';
import { rules } from './rules.ts';

function problemsOf(text: string) {
  const result = parseFlow(text);
  return result.kind === 'problems' ? result.problems : [];
}

describe.each(Object.entries(ruleCases))('%s', (rule, { accepts, refuses }) => {
  it.each(accepts)('accepts %#', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it.each(refuses)('refuses $message', ({ text, path, message, at }) => {
    const [line, column] = at.split(':').map(Number);
    expect(problemsOf(text)).toContainEqual({ rule, path, message, line, column });
  });
});

describe('the table of cases', () => {
  const brokenOnlyWithoutText: readonly string[] = ['names.unique', 'limits.flow-size'];

  // Flows beside the text break the others: see link.test.ts.
  const textRules = Object.keys(rules).filter((rule) => !(linkRules as readonly string[]).includes(rule));

  it.each(textRules)('has both sides of %s', (rule) => {
    const { accepts, refuses } = ruleCases[rule as TextRule];
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

  it('writes every default of the other kinds out', () => {
    const text = [
      'flow: f',
      'business: b',
      'deadline: 30m',
      'fields: { pages: json, all: json }',
      'steps:',
      '  a: { callback: m, receive: [x] }',
      '  b: { after: [a], wait: { signal: s } }',
      '  c: { sub_flow: g }',
      '  d: { start_flow: g }',
      '  e: { for_each: pages, as: page, sub_flow: g, into: all }',
      '  j: { after: [a, b], join: {} }',
      "on_exit: [{ when: [FAILED], url: 'https://example.org' }]",
    ].join('\n');
    const call = { module: 'm', timeoutMs: 10_000n, retry: { tries: 3, firstMs: 200n, maxMs: 10_000n }, maxLosses: 5 };
    const flow = create(FlowSchema, {
      name: 'f',
      business: 'b',
      deadlineMs: 1_800_000n,
      fields: ['pages', 'all'].map((name) => ({ name, type: FieldType.JSON })),
      steps: [
        {
          id: 'a',
          kind: { case: 'callback', value: { call: { ...call, receive: ['x'] }, answerWithinMs: 1_800_000n } },
        },
        {
          id: 'b',
          after: ['a'],
          kind: {
            case: 'wait',
            value: { what: { case: 'signal', value: { name: 's', timeoutMs: 0n, onTimeout: OnTimeout.FAIL } } },
          },
        },
        { id: 'c', kind: { case: 'subFlow', value: { flow: 'g', version: 0 } } },
        { id: 'd', kind: { case: 'startFlow', value: { flow: 'g', maxGenerations: 100 } } },
        {
          id: 'e',
          kind: {
            case: 'forEach',
            value: {
              over: 'pages',
              as: 'page',
              branch: { case: 'subFlow', value: { flow: 'g' } },
              into: 'all',
              concurrency: 16,
              maxFailures: 0,
            },
          },
        },
        { id: 'j', after: ['a', 'b'], kind: { case: 'join', value: { need: 0, losers: Losers.WAIT } } },
      ],
      onExit: [{ when: [ExitState.FAILED], call: { ...call, module: 'https://example.org' } }],
    });
    expect(parseFlow(text)).toEqual({ kind: 'flow', flow });
  });

  it('reads words that stand for numbers, and what is written of a wait', () => {
    const text = withFields(
      'all: json',
      'a: { wait: { for: 10m } }',
      "b: { wait: { until: '5' } }",
      'c: { after: [a, b], join: { need: any, losers: cancel } }',
      "d: { for_each: '[1]', as: page, call: m, into: all, max_failures: all }",
      'e: { after: [a], wait: { signal: s, receive: [x], timeout: 1h, on_timeout: pass } }',
    );
    const result = parseFlow(text);
    const [a, b, c, d, e] = result.kind === 'flow' ? result.flow.steps.map(({ kind }) => kind.value) : [];
    expect(a).toMatchObject({ what: { case: 'forMs', value: 600_000n } });
    expect(b).toMatchObject({ what: { case: 'until', value: '5' } });
    expect(c).toMatchObject({ need: 1, losers: Losers.CANCEL });
    expect(d).toMatchObject({ branch: { case: 'call' }, maxFailures: 4_294_967_295 });
    const signal = { name: 's', receive: ['x'], timeoutMs: 3_600_000n, onTimeout: OnTimeout.PASS };
    expect(e).toMatchObject({ what: { case: 'signal', value: signal } });
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
