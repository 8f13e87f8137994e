import { describe, expect, it } from 'vitest';
import { FlowSchema } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { parseFlow } from './definition/definition.ts';
import { differences } from './difference.ts';

const before = `
flow: mail
business: b
deadline: 1h
fields: { score: double, language: { type: string, default: und } }
steps:
  parse: { call: mail.parse, send: [raw], receive: [body, score] }
  language: { after: [parse], call: text.language, send: [body], receive: [language], timeout: 2s }
  choose:
    after: [parse, language]
    switch:
      - { when: "score > 0.9", then: [drop] }
      - { when: "language == 'de'", then: [] }
    otherwise: [keep]
  drop: { call: mail.drop }
  keep: { call: mail.keep }
`;

function flowOf(text: string) {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.flow;
}

function changed(...replacements: ReadonlyArray<readonly [string, string]>) {
  let after = before;
  for (const [from, to] of replacements) {
    expect(after).toContain(from);
    after = after.replace(from, to);
  }
  return differences(FlowSchema, flowOf(before), flowOf(after));
}

describe('differences', () => {
  it('are none between texts that mean the same', () => {
    expect(changed(['[parse, language]', '[language, parse]'], ['deadline: 1h', 'deadline: 60m'])).toEqual([]);
    expect(
      changed([
        '  drop: { call: mail.drop }\n  keep: { call: mail.keep }',
        '  keep: { call: mail.keep }\n  drop: { call: mail.drop }',
      ]),
    ).toEqual([]);
  });

  it('name keys, with durations and words as their author writes them', () => {
    expect(
      changed(
        ['deadline: 1h', 'deadline: 90m'],
        ['score: double', 'score: json'],
        ['default: und', 'default: en'],
        ['timeout: 2s', 'timeout: 2500ms'],
        ['call: text.language', "when: 'score < 0.5', call: text.lingua"],
      ),
    ).toEqual([
      { path: 'fields.score.type', from: 'double', to: 'json' },
      { path: 'fields.language.default', from: 'und', to: 'en' },
      { path: 'deadline', from: '1h', to: '90m' },
      { path: 'steps.language.call.module', from: 'text.language', to: 'text.lingua' },
      { path: 'steps.language.call.timeout', from: '2s', to: '2500ms' },
      { path: 'steps.language.when', to: 'score < 0.5' },
    ]);
  });

  it('name what was added to a list of names and what was taken away', () => {
    expect(changed(['receive: [body, score]', 'receive: [subject, score]'])).toEqual([
      { path: 'steps.parse.call.receive', from: 'body' },
      { path: 'steps.parse.call.receive', to: 'subject' },
    ]);
  });

  it('show a step that came or went as a whole', () => {
    const found = changed([
      '  keep: { call: mail.keep }',
      '  keep: { after: [choose], switch: [ { when: "true", then: [] } ], no_match: pass }',
    ]);
    expect(found).toEqual([
      {
        path: 'steps.keep.call',
        from: '{ module: mail.keep, timeout: 10s, retry: { tries: 3, first: 200ms, max: 10s }, max_losses: 5 }',
      },
      { path: 'steps.keep.after', to: 'choose' },
      { path: 'steps.keep.switch', to: '{ cases: { true: {} }, no_match: pass }' },
    ]);
    expect(changed(['  drop: {', '  audit: { after: [parse], call: a.b, retry: { tries: 1 } }\n  drop: {'])).toEqual([
      {
        path: 'steps.audit',
        to: '{ after: [parse], call: { module: a.b, timeout: 10s, retry: { tries: 1, first: 200ms, max: 10s }, max_losses: 5 } }',
      },
    ]);
  });

  it('name cases of a switch by their condition, and tell when their order changed', () => {
    const cases = ['- { when: "score > 0.9", then: [drop] }', `- { when: "language == 'de'", then: [] }`] as const;
    expect(changed([cases[0], `- { when: "score > 0.8", then: [drop] }`])).toEqual([
      { path: 'steps.choose.switch.cases["score > 0.9"]', from: '{ then: [drop] }' },
      { path: 'steps.choose.switch.cases["score > 0.8"]', to: '{ then: [drop] }' },
    ]);
    expect(changed([`${cases[0]}\n      ${cases[1]}`, `${cases[1]}\n      ${cases[0]}`])).toEqual([
      {
        path: 'steps.choose.switch.cases',
        from: "[score > 0.9, language == 'de']",
        to: "[language == 'de', score > 0.9]",
      },
    ]);
  });

  it('compare exit calls by their place', () => {
    expect(
      changed(['\nsteps:', '\non_exit: [ { when: [FAILED], call: audit.notify, max_losses: 2 } ]\nsteps:']),
    ).toEqual([
      {
        path: 'on_exit[0]',
        to: '{ when: [failed], call: { module: audit.notify, timeout: 10s, retry: { tries: 3, first: 200ms, max: 10s }, max_losses: 2 } }',
      },
    ]);
  });
});
