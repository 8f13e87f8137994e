import { describe, expect, it } from 'vitest';
import { parseFlow } from '../flow/definition/definition.ts';
import { ManualClock } from '../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../platform/coordination/memory-configuration.ts';
import { FlowCatalogue } from './flow-catalogue.ts';

const flowText = (module: string) => `flow: f\nbusiness: b\nsteps:\n  a: { call: ${module} }\n`;

function flowOf(text: string) {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.flow;
}

function catalogue(configuration = new MemoryConfiguration()) {
  const tested = new FlowCatalogue(configuration, new ManualClock());
  return {
    configuration,
    tested,
    push: (module: string, expected?: number) => tested.push(flowOf(flowText(module)), flowText(module), expected),
  };
}

describe('flow catalogue', () => {
  it('numbers versions from 1 and knows content that is there', async () => {
    const { push } = catalogue();
    expect(await push('one')).toEqual({ kind: 'done', version: 1, created: true });
    expect(await push('two')).toEqual({ kind: 'done', version: 2, created: true });
    expect(await push('one')).toEqual({ kind: 'done', version: 1, created: false });
  });

  it('refuses a push by someone who has not seen the newest version', async () => {
    const { push } = catalogue();
    await push('one', 0);
    expect(await push('two', 0)).toEqual({ kind: 'conflict', newest: 1 });
    expect(await push('two', 1)).toMatchObject({ kind: 'done', version: 2 });
  });

  it('gives two pushes at once two versions, or one of them a conflict', async () => {
    const { push } = catalogue();
    const versions = await Promise.all([push('one'), push('two')]);
    expect(versions).toContainEqual({ kind: 'done', version: 1, created: true });
    expect(versions).toContainEqual({ kind: 'done', version: 2, created: true });
    const kinds = await Promise.all([push('three', 2), push('four', 2)]);
    expect(kinds.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done']);
  });

  it('follows the release pointer at once, in every process', async () => {
    const { configuration, tested, push } = catalogue();
    const other = new FlowCatalogue(configuration, new ManualClock());
    await push('one');
    await push('two');
    expect(await other.released('f')).toBeUndefined();
    expect(await tested.release('f', 2)).toEqual({ kind: 'done', previous: 0 });
    expect((await other.released('f'))?.version).toBe(2);
    expect(await tested.release('f', 1)).toEqual({ kind: 'done', previous: 2 });
    expect((await other.released('f'))?.version).toBe(1);
    expect(await tested.release('f', 3)).toEqual({ kind: 'absent', newest: 2 });
  });

  it('keeps every version as it was pushed', async () => {
    const { tested, push } = catalogue();
    await push('one');
    await push('two');
    expect((await tested.get('f', 1))?.text).toBe(flowText('one'));
    const plan = await tested.pinned('f', 1);
    expect(plan?.steps.map(({ action }) => action.kind === 'call' && action.module)).toEqual(['one']);
    expect(await tested.pinned('f', 3)).toBeUndefined();
    expect(await tested.list()).toEqual([{ name: 'f', business: 'b', newest: 2, released: 0 }]);
  });
});
