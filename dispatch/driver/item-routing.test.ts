import { describe, expect, it } from 'vitest';
import { compileRoutes } from '../../flow/routing/choose-flow.ts';
import { parseRoutes } from '../../flow/routing/definition.ts';
import type { Assignments, AssignResult } from '../../store/assignments.ts';
import { MemoryAssignments } from '../../store/memory/memory-assignments.ts';
import { ItemRouting } from './item-routing.ts';

function compiled(text: string) {
  const parsed = parseRoutes(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return compileRoutes(parsed.table);
}

const byCountry = `
business: b
fields: { country: string }
rules: [ { when: "country == 'de'", flow: german } ]
otherwise: refuse
`;
const toAll = (flow: string) => `{ business: b, rules: [], otherwise: ${flow} }`;

/** Routing by the text that is released now. */
function routing(text: string | undefined, assignments: Assignments = new MemoryAssignments()) {
  const released = { text };
  const routes = { released: async () => (released.text === undefined ? undefined : compiled(released.text)) };
  const tested = new ItemRouting(routes, assignments);
  const flowOf = (key: string, fields: Readonly<Record<string, string>> = {}) => {
    const values = Object.entries(fields).map(([name, value]) => [name, { bytes: Buffer.from(value) }] as const);
    return tested.flowOf({ business: 'b', key: Buffer.from(key), level: 5, fields: new Map(values) });
  };
  return { released, flowOf };
}

describe('ItemRouting', () => {
  it('keeps an item in the flow that it was given first', async () => {
    const { released, flowOf } = routing(toAll('one'));
    expect(await flowOf('k')).toEqual({ kind: 'flow', flow: 'one' });
    released.text = toAll('two');
    expect(await flowOf('k')).toEqual({ kind: 'flow', flow: 'one' });
    expect(await flowOf('other')).toEqual({ kind: 'flow', flow: 'two' });
    released.text = undefined;
    expect(await flowOf('k')).toEqual({ kind: 'flow', flow: 'one' });
  });

  it('gives an item one flow when two processes route it by two releases at once', async () => {
    const assignments = new MemoryAssignments();
    const one = routing(toAll('one'), assignments);
    const two = routing(toAll('two'), assignments);
    const [first, second] = await Promise.all([one.flowOf('k'), two.flowOf('k')]);
    expect(first).toEqual(second);
  });

  it('refuses by name what has no way to go, and remembers nothing of it', async () => {
    const assignments = new MemoryAssignments();
    const { released, flowOf } = routing(undefined, assignments);
    expect(await flowOf('k')).toEqual({
      ...{ kind: 'refused', why: 'unrouted', field: 'flow' },
      message: 'is absent, and no routes of business b are released; name a flow',
    });
    released.text = byCountry;
    expect(await flowOf('k', { country: 'fr' })).toEqual({
      ...{ kind: 'refused', why: 'unrouted', field: 'flow' },
      message: 'is absent, and no rule of business b takes the item',
    });
    expect(await flowOf('k')).toEqual({
      ...{ kind: 'refused', why: 'invalid', field: 'fields' },
      message: 'routes of business b: rules[0].when: field country is absent and has no default',
    });
    expect(await flowOf('k', { country: 'de' })).toEqual({ kind: 'flow', flow: 'german' });
  });

  it('takes nothing in when nobody knows whether the choice is stored', async () => {
    class Silent extends MemoryAssignments {
      override async assign(): Promise<AssignResult> {
        return { kind: 'unknown', cause: 'no answer' };
      }
    }
    expect(await routing(toAll('one'), new Silent()).flowOf('k')).toMatchObject({ why: 'unavailable' });
  });
});
