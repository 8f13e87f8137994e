import { describe, expect, it } from 'vitest';
import { parseFlow } from './definition.ts';
import { printFlow } from './print-flow.ts';
import { ruleCases } from './rule-cases.ts';
import { stepKindNames } from './step-kinds.ts';

function flowOf(text: string) {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.flow;
}

describe('printFlow', () => {
  const texts = Object.values(ruleCases).flatMap(({ accepts }) => accepts);

  it.each(texts)('prints accepted flow %# so that it is read as the same', (text) => {
    const flow = flowOf(text);
    expect(flowOf(printFlow(flow))).toEqual(flow);
  });

  it('is tested with every kind of step', () => {
    const printed = new Set(texts.flatMap((text) => flowOf(text).steps.map(({ kind }) => kind.case)));
    expect(printed.size).toBe(stepKindNames.length);
  });

  it('leaves defaults out and puts a step on a line where it fits', () => {
    const text = `flow: mail
business: intake
description: |-
  Sorts mail: twice.
  # A day.
fields:
  score: { type: double, default: 0.5 }
  code: { type: string, default: "1" }
  big: { type: int, default: "9223372036854775807" }
  labels: { type: json, default: { "a b": [1, null, "true"], c: {} } }
deadline: 30m
steps:
  parse: { call: mail.parse, send: [raw], receive: [body], timeout: 2s, retry: { tries: 5 } }
  judge:
    after: [parse]
    inline:
      code: "score >= 0.9 ? 'a rather long text, so that it has no room on a line beside others' : 'short \\\\d'"
  route:
    after: [judge]
    switch:
      - { when: "score >= 0.9", then: [hold] }
      - { when: "code == 'a: b # c' && score > 0.1 && score < 0.2 && score != 0.15", then: [] }
    no_match: pass
  hold: { call: mail.hold, retry: { first: 1s, max: 1m }, max_losses: 2 }
on_exit:
  - { when: [FAILED, CANCELLED], call: audit.notify, timeout: 1m }
`;
    expect(printFlow(flowOf(text))).toBe(text);
  });
});
