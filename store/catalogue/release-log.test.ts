import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import type { ConfigurationEntry } from '../../platform/coordination/configuration.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { GraySchema } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { ReleaseLog } from './release-log.ts';

const ann = { author: 'ann', comment: 'why' };

function log(configuration = new MemoryConfiguration()) {
  const clock = new ManualClock();
  const tested = new ReleaseLog(configuration, clock, 'flows');
  const release = (version: number, expected?: number) => tested.release('f', () => ({ version }), ann, expected);
  return { clock, configuration, tested, release };
}

describe('ReleaseLog', () => {
  it('keeps who released what, when and why, the newest first', async () => {
    const { tested, release } = log();
    expect(await tested.history('f')).toEqual([]);
    expect(await tested.current('f')).toBeUndefined();
    await release(1);
    await release(2);
    expect(await tested.current('f')).toMatchObject({
      number: 2,
      version: 2,
      author: 'ann',
      comment: 'why',
      restores: 0,
    });
    expect((await tested.history('f')).map(({ number }) => number)).toEqual([2, 1]);
  });

  it('refuses a release by someone who has not seen the present one', async () => {
    const { release } = log();
    expect(await release(1, 1)).toEqual({ kind: 'conflict', current: undefined });
    expect(await release(1, 0)).toMatchObject({ kind: 'done' });
    expect(await release(2, 0)).toMatchObject({ kind: 'conflict', current: { number: 1, author: 'ann' } });
    expect(await release(2, 1)).toMatchObject({ kind: 'done', release: { number: 2 }, previous: { number: 1 } });
  });

  it('lets one of two succeed who saw the same, and numbers those who did not look', async () => {
    const { tested, release } = log();
    const kinds = await Promise.all([release(1, 0), release(2, 0)]);
    expect(kinds.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done']);
    await Promise.all([release(3), release(4), release(5)]);
    expect((await tested.history('f')).map(({ number }) => number)).toEqual([4, 3, 2, 1]);
  });

  it('goes back step by step, past what was taken back', async () => {
    const { tested, release } = log();
    for (const version of [1, 2, 3]) await release(version);
    expect(await tested.rollback('f', 0, ann)).toMatchObject({ release: { number: 4, version: 2, restores: 2 } });
    expect(await tested.rollback('f', 0, ann)).toMatchObject({ release: { number: 5, version: 1, restores: 1 } });
    expect(await tested.rollback('f', 0, ann)).toEqual({ kind: 'no such release', kept: [1, 2, 3, 4, 5] });
    expect(await tested.rollback('f', 3, ann)).toMatchObject({ release: { number: 6, version: 3, restores: 3 } });
    expect(await tested.rollback('f', 4, ann, 6)).toMatchObject({ release: { number: 7, version: 2, restores: 2 } });
    expect(await tested.rollback('f', 1, ann, 6)).toMatchObject({ kind: 'conflict', current: { number: 7 } });
  });

  it('keeps 100 releases', async () => {
    const { tested, release } = log();
    for (let version = 1; version <= 103; version++) await release(version);
    const numbers = (await tested.history('f')).map(({ number }) => number);
    expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([100, 103, 4]);
    expect(await tested.rollback('f', 3, ann)).toMatchObject({ kind: 'no such release' });
  });

  it('keeps fewer whose lists of keys are long, and always the present one', async () => {
    const { tested } = log();
    const keys = Array.from({ length: 100 }, () => new Uint8Array(1_000));
    const gray = create(GraySchema, { version: 2, keys });
    for (let turn = 0; turn < 7; turn++) await tested.release('f', () => ({ version: 1, gray }), ann);
    expect((await tested.history('f')).map(({ number }) => number)).toEqual([7, 6, 5, 4]);
  });

  it('forgets what it read while the release changed', async () => {
    const { configuration, tested, release } = log();
    const other = new ReleaseLog(configuration, new ManualClock(), 'flows');
    await release(1);
    const reading = tested.current('f');
    await other.release('f', () => ({ version: 2 }), ann);
    await reading;
    expect(await tested.current('f')).toMatchObject({ version: 2 });
  });

  it('asks the configuration once for as long as nothing changes', async () => {
    let reads = 0;
    class Counting extends MemoryConfiguration {
      override get(path: string): Promise<ConfigurationEntry | undefined> {
        reads++;
        return super.get(path);
      }
    }
    const { tested, release } = log(new Counting());
    await release(1);
    reads = 0;
    expect(await tested.current('f')).toBe(await tested.current('f'));
    expect(reads).toBe(1);
    await tested.current('nobody');
    await tested.current('nobody');
    expect(reads, 'names that do not exist are not remembered').toBe(3);
  });
});
