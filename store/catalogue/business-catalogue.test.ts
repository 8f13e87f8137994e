import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { BusinessCatalogue } from './business-catalogue.ts';

function catalogue() {
  const clock = new ManualClock();
  return { clock, tested: new BusinessCatalogue(new MemoryConfiguration(), clock) };
}

describe('BusinessCatalogue', () => {
  it('creates a business line, and changes what is named', async () => {
    const { tested } = catalogue();
    expect(await tested.set('mail', { owners: ['ann'], author: 'ann' })).toMatchObject({ business: { revision: 1 } });
    await tested.set('mail', { description: 'Letters', author: 'bob' });
    expect(await tested.get('mail')).toMatchObject({
      ...{ name: 'mail', owners: ['ann'], description: 'Letters', author: 'bob', revision: 2 },
    });
    await tested.set('mail', { owners: [], author: 'bob' });
    expect(await tested.get('mail')).toMatchObject({ owners: [], description: 'Letters' });
    expect(await tested.get('nobody')).toBeUndefined();
  });

  it('lets one of two succeed who saw the same', async () => {
    const { tested } = catalogue();
    const set = (author: string) => tested.set('mail', { author, owners: [author] }, 0);
    const results = await Promise.all([set('ann'), set('bob')]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done']);
    expect(await tested.set('mail', { author: 'eve' }, 5)).toMatchObject({
      kind: 'conflict',
      current: { revision: 1 },
    });
  });

  it('registers with an owner what is not there, and leaves what is', async () => {
    const { tested } = catalogue();
    await tested.register('mail', 'ann');
    await tested.register('mail', 'bob');
    await tested.register('video', '');
    expect(await tested.list()).toMatchObject([
      { name: 'mail', owners: ['ann'], revision: 1 },
      { name: 'video', owners: [], revision: 1 },
    ]);
  });
});
