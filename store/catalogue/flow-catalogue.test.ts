import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { parseFlow } from '../../flow/definition/definition.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { GraySchema } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { BusinessCatalogue } from './business-catalogue.ts';
import { FlowCatalogue, type FlowRelease } from './flow-catalogue.ts';

const flowText = (module: string, business = 'b') =>
  `flow: f\nbusiness: ${business}\nsteps:\n  a: { call: ${module} }\n`;

function flowOf(text: string) {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.flow;
}

const ann = { author: 'ann', comment: '' };
const item = (key: string) => ({ business: 'b', key: new TextEncoder().encode(key) });

function catalogue(configuration = new MemoryConfiguration()) {
  const tested = new FlowCatalogue(configuration, new ManualClock());
  return {
    configuration,
    tested,
    push: (module: string, expected?: number) => tested.push(flowOf(flowText(module)), flowText(module), ann, expected),
    release: (release: FlowRelease, expected?: number) => tested.release('f', release, ann, expected),
    /** Version that an item gets. */
    versionFor: async (key: string) => (await tested.released('f', item(key)))?.version,
  };
}

describe('versions of a flow', () => {
  it('are numbered from 1, and content that is there is known', async () => {
    const { push } = catalogue();
    expect(await push('one')).toEqual({ kind: 'done', version: 1, created: true });
    expect(await push('two')).toEqual({ kind: 'done', version: 2, created: true });
    expect(await push('one')).toEqual({ kind: 'done', version: 1, created: false });
  });

  it('are not pushed by someone who has not seen the newest one, who hears whose it is', async () => {
    const { push } = catalogue();
    await push('one', 0);
    expect(await push('two', 0)).toEqual({
      kind: 'conflict',
      newest: 1,
      author: 'ann',
      atMs: expect.any(Number) as number,
    });
    expect(await push('two', 1)).toMatchObject({ kind: 'done', version: 2 });
  });

  it('are two when two push at once, or one is a conflict', async () => {
    const { push } = catalogue();
    const versions = await Promise.all([push('one'), push('two')]);
    expect(versions).toContainEqual({ kind: 'done', version: 1, created: true });
    expect(versions).toContainEqual({ kind: 'done', version: 2, created: true });
    const kinds = await Promise.all([push('three', 2), push('four', 2)]);
    expect(kinds.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done']);
  });

  it('stay as they were pushed', async () => {
    const { tested, push } = catalogue();
    await push('one');
    await push('two');
    expect(await tested.get('f', 1)).toMatchObject({ text: flowText('one'), author: 'ann' });
    const plan = await tested.pinned('f', 1);
    expect(plan?.steps.map(({ action }) => action.kind === 'call' && action.module)).toEqual(['one']);
    expect(await tested.pinned('f', 3)).toBeUndefined();
    expect(await tested.list()).toEqual([{ name: 'f', business: 'b', newest: 2, release: undefined }]);
  });

  it('stay in the business line of the first, which is registered with its author as owner', async () => {
    const { configuration, tested, push } = catalogue();
    await push('one');
    const moved = flowText('two', 'other');
    expect(await tested.push(flowOf(moved), moved, ann)).toEqual({ kind: 'moved', business: 'b' });
    const businesses = await new BusinessCatalogue(configuration, new ManualClock()).list();
    expect(businesses).toMatchObject([{ name: 'b', owners: ['ann'], revision: 1 }]);
  });
});

describe('releases of a flow', () => {
  it('are followed at once, in every process', async () => {
    const { configuration, push, release } = catalogue();
    const other = new FlowCatalogue(configuration, new ManualClock());
    await push('one');
    await push('two');
    expect(await other.released('f', item('k'))).toBeUndefined();
    expect(await release({ version: 2 })).toMatchObject({ kind: 'done', previous: undefined });
    expect((await other.released('f', item('k')))?.version).toBe(2);
    expect(await release({ version: 1 })).toMatchObject({ kind: 'done', previous: { version: 2 } });
    expect((await other.released('f', item('k')))?.version).toBe(1);
    expect(await release({ version: 3 })).toEqual({ kind: 'absent', version: 3, newest: 2 });
  });

  it('give a gray version to the items it names, and the stable one to the others', async () => {
    const { push, release, versionFor } = catalogue();
    await push('one');
    await push('two');
    const keys = [item('early').key];
    expect(await release({ version: 0, gray: create(GraySchema, { version: 2, keys }) })).toEqual({
      kind: 'nothing to keep',
    });
    await release({ version: 1 });
    await release({ version: 0, gray: create(GraySchema, { version: 2, keys }) });
    expect([await versionFor('early'), await versionFor('late')]).toEqual([2, 1]);
    await release({ version: 0, gray: create(GraySchema, { version: 2, businesses: ['b'] }) });
    expect(await versionFor('late')).toBe(2);
    expect(await release({ version: 0, gray: create(GraySchema, { version: 3, keys }) })).toMatchObject({
      kind: 'absent',
      version: 3,
    });
    await release({ version: 2 });
    expect([await versionFor('early'), await versionFor('late')]).toEqual([2, 2]);
  });

  it('keep an item on its version while a share grows', async () => {
    const { push, release, versionFor } = catalogue();
    await push('one');
    await push('two');
    await release({ version: 1 });
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
    let before = new Set<string>();
    for (const shareBasisPoints of [500, 2_000, 6_000]) {
      await release({ version: 0, gray: create(GraySchema, { version: 2, shareBasisPoints }) });
      const gray = new Set<string>();
      for (const key of keys) if ((await versionFor(key)) === 2) gray.add(key);
      expect(before.isSubsetOf(gray)).toBe(true);
      expect(gray.size).toBeGreaterThan(before.size);
      before = gray;
    }
  });

  it('are taken back in one write, with their gray part', async () => {
    const { tested, push, release, versionFor } = catalogue();
    await push('one');
    await push('two');
    await release({ version: 1 });
    await release({ version: 0, gray: create(GraySchema, { version: 2, keys: [item('early').key] }) });
    await release({ version: 2 });
    expect(await tested.rollback('f', 0, ann)).toMatchObject({ release: { number: 4, restores: 2, version: 1 } });
    expect([await versionFor('early'), await versionFor('late')]).toEqual([2, 1]);
  });
});
