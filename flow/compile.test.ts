import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExitState, FieldType, FlowSchema, NoMatch } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { compileFlow } from './compile.ts';
import { parseFlow } from './definition/definition.ts';
import type { Plan, Reading } from './plan.ts';

const mailIntake = `
flow: mail-intake
business: mail
fields: { language: string, spam_score: double, near_dup_of: { type: string, default: '' } }
deadline: 10m
steps:
  parse:    { call: mail.parse, send: [raw], receive: [subject, body], timeout: 2s }
  language: { after: [parse], call: text.language, send: [body], receive: [language] }
  score:    { after: [parse], call: mail.score, send: [subject, body], receive: [spam_score], retry: { tries: 5, first: 200ms, max: 10s } }
  near_dup: { after: [parse], call: text.neardup, send: [body], receive: [near_dup_of] }
  verdict:
    after: [language, score, near_dup]
    switch:
      - { when: "spam_score >= 0.9", then: [quarantine] }
      - { when: "near_dup_of != ''", then: [merge] }
    otherwise: [publish]
  publish: { call: mail.publish, send: [language] }
  quarantine: { call: mail.quarantine }
  merge: { call: mail.merge, send: [near_dup_of] }
on_exit:
  - { when: [FAILED], call: audit.notify, send: [subject] }
`;

function compiled(text: string): Plan {
  const result = parseFlow(text);
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems));
  return compileFlow(result.flow, 7);
}

function keysOf(readings: readonly Reading[] | undefined): string[] {
  return (readings ?? []).map(({ name, keys }) => `${name}: ${keys.join(', ')}`);
}

function sentBy(plan: Plan, id: string): string[] {
  const action = plan.byId.get(id)?.action;
  return action?.kind === 'call' ? keysOf(action.send) : [];
}

describe('compileFlow, with the flow mail-intake', () => {
  const plan = compiled(mailIntake);

  it('keeps name, business, version and deadline', () => {
    const { name, business, version, deadlineMs } = plan;
    expect({ name, business, version, deadlineMs }).toEqual({
      name: 'mail-intake',
      business: 'mail',
      version: 7,
      deadlineMs: 600_000,
    });
  });

  it('lays out the graph', () => {
    expect(plan.steps.map(({ id, after, choosers, successors }) => ({ id, after, choosers, successors }))).toEqual([
      { id: 'parse', after: [], choosers: [], successors: ['language', 'score', 'near_dup'] },
      { id: 'language', after: ['parse'], choosers: [], successors: ['verdict'] },
      { id: 'score', after: ['parse'], choosers: [], successors: ['verdict'] },
      { id: 'near_dup', after: ['parse'], choosers: [], successors: ['verdict'] },
      {
        id: 'verdict',
        after: ['language', 'score', 'near_dup'],
        choosers: [],
        successors: ['publish', 'quarantine', 'merge'],
      },
      { id: 'publish', after: [], choosers: ['verdict'], successors: [] },
      { id: 'quarantine', after: [], choosers: ['verdict'], successors: [] },
      { id: 'merge', after: [], choosers: ['verdict'], successors: [] },
    ]);
    expect([...plan.byId.values()]).toEqual(plan.steps);
  });

  it('gives a call its policy, written or not', () => {
    expect(plan.byId.get('score')?.action).toMatchObject({
      kind: 'call',
      module: 'mail.score',
      receive: new Set(['spam_score']),
      timeoutMs: 10_000,
      tries: 5,
      firstBackoffMs: 200,
      maxBackoffMs: 10_000,
      maxLosses: 5,
    });
    expect(plan.byId.get('parse')?.action).toMatchObject({ timeoutMs: 2_000, tries: 3 });
  });

  it('finds the writers of what a step sends, also across a choice', () => {
    expect(sentBy(plan, 'parse')).toEqual(['raw: input/raw']);
    expect(sentBy(plan, 'score')).toEqual(['subject: parse/subject, input/subject', 'body: parse/body, input/body']);
    expect(sentBy(plan, 'publish')).toEqual(['language: language/language, input/language']);
    expect(sentBy(plan, 'merge')).toEqual(['near_dup_of: near_dup/near_dup_of, input/near_dup_of']);
  });

  it('compiles the switch', () => {
    const action = plan.byId.get('verdict')?.action;
    if (action?.kind !== 'switch') throw new Error('verdict is a switch');
    const cases = action.cases.map(({ when, then: chosen }) => ({
      source: when.expression.source,
      path: when.path,
      reads: keysOf(when.reads),
      chosen,
    }));
    expect(cases).toEqual([
      {
        source: 'spam_score >= 0.9',
        path: 'steps.verdict.switch[0].when',
        reads: ['spam_score: score/spam_score, input/spam_score'],
        chosen: ['quarantine'],
      },
      {
        source: "near_dup_of != ''",
        path: 'steps.verdict.switch[1].when',
        reads: ['near_dup_of: near_dup/near_dup_of, input/near_dup_of'],
        chosen: ['merge'],
      },
    ]);
    expect(action.otherwise).toEqual(['publish']);
    expect(action.noMatch).toBe(NoMatch.OTHERWISE);
    expect(action.cases[0]?.when.expression.evaluate({ spam_score: 0.95 })).toEqual({ kind: 'value', value: true });
  });

  it('declares fields, with defaults as bytes', () => {
    expect(plan.fields).toEqual(
      new Map([
        ['language', { name: 'language', type: FieldType.STRING }],
        ['spam_score', { name: 'spam_score', type: FieldType.DOUBLE }],
        ['near_dup_of', { name: 'near_dup_of', type: FieldType.STRING, default: { bytes: new Uint8Array() } }],
      ]),
    );
  });

  it('lets exit calls see the last writer of each field', () => {
    const [exit] = plan.exitCalls;
    expect(exit?.id).toBe('exit/0');
    expect(exit?.when).toEqual(new Set([ExitState.FAILED]));
    expect(keysOf(exit?.action.send)).toEqual(['subject: parse/subject, input/subject']);
  });
});

describe('compileFlow', () => {
  it('puts every step after all that it waits for, whatever the order of the text', () => {
    const plan = compiled(`
flow: f
business: b
steps:
  d: { after: [b, c], call: m }
  c: { after: [a], call: m }
  b: { after: [a], call: m }
  a: { call: m }
`);
    expect(plan.steps.map(({ id }) => id)).toEqual(['a', 'c', 'b', 'd']);
  });

  it('puts the nearest writer first, and leaves out what is not before the reader', () => {
    const plan = compiled(`
flow: f
business: b
steps:
  one:   { call: m, receive: [x] }
  two:   { after: [one], call: m, receive: [x] }
  aside: { after: [one], call: m, send: [x] }
  last:  { after: [two], call: m, send: [x], receive: [x] }
`);
    expect(sentBy(plan, 'last')).toEqual(['x: two/x, one/x, input/x']);
    expect(sentBy(plan, 'aside')).toEqual(['x: one/x, input/x']);
  });

  it('reads nothing that the step itself writes', () => {
    const plan = compiled(`
flow: f
business: b
fields: { n: int }
steps: { a: { inline: { n: 'n + 1' } } }
`);
    const action = plan.byId.get('a')?.action;
    expect(action?.kind === 'inline' && action.set.map(({ value }) => keysOf(value.reads))).toEqual([['n: input/n']]);
  });

  it('merges the ways to a step: one successor each, and all choosers', () => {
    const plan = compiled(`
flow: f
business: b
steps:
  a: { switch: [{ when: 'true', then: [c] }], otherwise: [c] }
  b: { switch: [{ when: 'true', then: [c] }] }
  c: { after: [a], when: 'true', call: m }
`);
    expect(plan.byId.get('c')).toMatchObject({ after: ['a'], choosers: ['a', 'b'], when: { path: 'steps.c.when' } });
    expect(plan.byId.get('a')?.successors).toEqual(['c']);
    expect(plan.byId.get('b')?.action).toMatchObject({ otherwise: [], noMatch: NoMatch.FAIL });
  });

  it.each([
    ['a ring', { steps: [{ id: 'a', after: ['a'] }] }, 'flow f: a ring, or one id twice'],
    ['a step without a kind', { steps: [{ id: 'a' }] }, 'step a has no kind that this engine knows'],
    ['an exit call without a call', { onExit: [{}] }, 'flow f: on_exit[0] has no call'],
    [
      'a bad expression',
      { steps: [{ id: 'a', when: '1 +', kind: { case: 'inline' as const, value: {} } }] },
      'steps.a.when: line 1, column 3: found + but expecting end of input',
    ],
  ])('throws at what validation refuses: %s', (_what, changes, message) => {
    const flow = create(FlowSchema, { name: 'f', business: 'b', ...changes });
    expect(() => compileFlow(flow, 1)).toThrow(message);
  });
});
