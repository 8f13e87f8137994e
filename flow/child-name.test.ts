import { describe, expect, it } from 'vitest';
import { childKey } from './child-name.ts';
import type { Draft } from './draft.ts';
import { latin1, runId } from './run-id.ts';

const draftOf = (itemKey: string): Draft => {
  const id = runId({ business: 'b', flow: 'f', itemKey: new TextEncoder().encode(itemKey), generation: 1 });
  return { runId: id, step: () => undefined } as unknown as Draft;
};

describe('the key of a child', () => {
  it('says in full where it comes from, as long as that is short', () => {
    expect(childKey(draftOf('item 1'), 'part[3]')).toBe('1/b/f/item%201/part[3]/1');
  });

  it('stays short however many runs started each other, and differs', () => {
    const keys = new Set<string>();
    for (let key = 'item', depth = 0; depth < 1_000; depth++) {
      key = childKey(draftOf(key), 'next');
      keys.add(key);
      expect(key.length).toBeLessThanOrEqual(256);
      expect(latin1(new TextEncoder().encode(key))).toBe(key);
    }
    expect(keys.size).toBe(1_000);
  });
});
