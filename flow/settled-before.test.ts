import { describe, expect, it } from 'vitest';
import { parseFlow } from './definition/definition.ts';
import { flowGraph } from './graph.ts';
import { settledBefore } from './settled-before.ts';

function pairs(steps: string): (earlier: string, later: string) => boolean {
  const parsed = parseFlow(
    `{ flow: f, business: b, fields: { x: { type: string, default: '' } }, steps: { ${steps} } }`,
  );
  if (parsed.kind !== 'flow') throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  return settledBefore(flowGraph(parsed.flow));
}

const fork = 'split: { call: m }, a: { after: [split], call: m }, b: { after: [split], call: m }';

describe('settled before', () => {
  it('is the order of the graph where every step waits for all', () => {
    const isBefore = pairs(`${fork}, all: { after: [a, b], join: {} }, use: { after: [all], call: m }`);
    expect([isBefore('a', 'use'), isBefore('split', 'use'), isBefore('use', 'a'), isBefore('a', 'b')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('ends at a join that needs only some, except for what leads to each of them', () => {
    const isBefore = pairs(`${fork}, any: { after: [a, b], join: { need: any } }, use: { after: [any], call: m }`);
    expect([isBefore('any', 'use'), isBefore('split', 'use')]).toEqual([true, true]);
    expect([isBefore('a', 'any'), isBefore('a', 'use'), isBefore('b', 'use')]).toEqual([false, false, false]);
  });

  it('goes through a join that needs as many as there are', () => {
    const isBefore = pairs(
      `${fork}, c: { call: m }, d: { after: [c, a], join: { need: 2 } }, any: { after: [d, b], join: { need: any } }`,
    );
    expect([isBefore('a', 'd'), isBefore('c', 'd'), isBefore('c', 'any')]).toEqual([true, true, false]);
  });

  it('holds for the switch that chooses the join', () => {
    const isBefore = pairs(
      `${fork}, way: { switch: [{ when: "x == 'x'", then: [any] }], no_match: pass }, any: { after: [a, b], join: { need: any } }`,
    );
    expect(isBefore('way', 'any')).toBe(true);
  });
});
