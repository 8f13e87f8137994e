import { describe, expect, it } from 'vitest';
import { ownShards } from './ownership.ts';

const shards = 1_024;
const members = Array.from({ length: 8 }, (_, index) => `spout-${index + 1}`);

function owners(members: readonly string[]): string[] {
  const owner: string[] = Array.from({ length: shards }, () => '');
  for (const member of members) {
    for (const shard of ownShards(member, members, shards)) {
      expect(owner[shard]).toBe('');
      owner[shard] = member;
    }
  }
  return owner;
}

describe('ownShards', () => {
  it('gives each shard to exactly one member, whatever the order of the members', () => {
    const owner = owners(members);
    expect(owner).not.toContain('');
    expect(owners(members.toReversed())).toEqual(owner);
  });

  it('shares evenly, within a third', () => {
    const fair = shards / members.length;
    for (const member of members) {
      const { length } = ownShards(member, members, shards);
      expect(length).toBeGreaterThan(fair * (2 / 3));
      expect(length).toBeLessThan(fair * (4 / 3));
    }
  });

  it('moves about 1/n of the shards to a member that joins, and none between the others', () => {
    const before = owners(members);
    const after = owners([...members, 'spout-9']);
    const moved = after.filter((owner, shard) => owner !== before[shard]);
    expect(new Set(moved)).toEqual(new Set(['spout-9']));
    expect(moved.length).toBeLessThan((shards / 9) * (4 / 3));
  });

  it('moves only the shards of a member that leaves', () => {
    const before = owners(members);
    const after = owners(members.slice(1));
    for (const [shard, owner] of after.entries()) if (before[shard] !== 'spout-1') expect(owner).toBe(before[shard]);
  });

  it('owns everything alone, nothing as a stranger, and no less when an old incarnation is still listed', () => {
    expect(ownShards('a', ['a'], 3)).toEqual([0, 1, 2]);
    expect(ownShards('a', ['b'], 3)).toEqual([]);
    expect(ownShards('a', [], 3)).toEqual([]);
    expect(ownShards('a', ['a', 'a'], 3)).toEqual([0, 1, 2]);
  });
});
