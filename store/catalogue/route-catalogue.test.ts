import { describe, expect, it } from 'vitest';
import { parseFlow } from '../../flow/definition/definition.ts';
import { parseRoutes } from '../../flow/routing/definition.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { FlowCatalogue } from './flow-catalogue.ts';
import { RouteCatalogue } from './route-catalogue.ts';

const ann = { author: 'ann', comment: '' };

async function catalogue() {
  const configuration = new MemoryConfiguration();
  const flows = new FlowCatalogue(configuration, new ManualClock());
  for (const name of ['one', 'two', 'draft']) {
    const text = `{ flow: ${name}, business: b, steps: { a: { call: m } } }`;
    const parsed = parseFlow(text);
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    await flows.push(parsed.flow, text, ann);
    if (name !== 'draft') await flows.release(name, { version: 1 }, ann);
  }
  const tested = new RouteCatalogue(configuration, new ManualClock(), flows);
  const push = async (text: string, expected?: number) => {
    const parsed = parseRoutes(text, await flows.owners());
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    return tested.push(parsed.table, text, ann, expected);
  };
  return { tested, push };
}

const to = (flow: string) => `{ business: b, rules: [], otherwise: ${flow} }`;

describe('RouteCatalogue', () => {
  it('keeps versions of a business line, and routes by the released one', async () => {
    const { tested, push } = await catalogue();
    expect(await push(to('one'))).toEqual({ kind: 'done', version: 1, created: true });
    expect(await push(to('two'), 0)).toMatchObject({ kind: 'conflict', newest: 1, author: 'ann' });
    expect(await push(to('two'), 1)).toEqual({ kind: 'done', version: 2, created: true });
    expect(await push(to('one'))).toEqual({ kind: 'done', version: 1, created: false });
    expect(await tested.released('b')).toBeUndefined();
    await tested.release('b', 1, ann);
    expect(await tested.released('b')).toMatchObject({ otherwise: 'one' });
    await tested.release('b', 2, ann);
    expect(await tested.released('b')).toMatchObject({ otherwise: 'two' });
    await tested.rollback('b', 0, ann);
    expect(await tested.released('b')).toMatchObject({ otherwise: 'one' });
    expect(await tested.list()).toMatchObject([{ business: 'b', newest: 2, release: { number: 3, version: 1 } }]);
  });

  it('releases nothing that leads to a flow which nobody can run', async () => {
    const { tested, push } = await catalogue();
    await push(
      '{ business: b, rules: [ { when: "level > 1", flow: one }, { when: "level > 2", flow: draft } ], otherwise: refuse }',
    );
    expect(await tested.release('b', 1, ann)).toEqual({
      kind: 'unreleased flow',
      path: 'rules[1].flow',
      flow: 'draft',
    });
    expect(await tested.release('b', 2, ann)).toEqual({ kind: 'absent', version: 2, newest: 1 });
    expect(await tested.release('b', 0, ann)).toEqual({ kind: 'absent', version: 0, newest: 1 });
    expect(await tested.released('b')).toBeUndefined();
  });
});
