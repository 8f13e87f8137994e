import { describe, expect, it } from 'vitest';
import { divide, type RingMember } from './ring.ts';

function equal(...processIds: string[]): RingMember[] {
  return processIds.map((processId) => ({ processId, capacity: 1 }));
}

function loadsOf(owners: readonly string[]): Map<string, number> {
  const loads = new Map<string, number>();
  for (const owner of owners) loads.set(owner, (loads.get(owner) ?? 0) + 1);
  return loads;
}

function moved(before: readonly string[], after: readonly string[]): number {
  return before.filter((owner, shard) => owner !== after[shard]).length;
}

/** Uniform in [0, 1), the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** Names as machines have them. */
function madeUpMembers(random: () => number, count: number): RingMember[] {
  const name = () => `host-${Math.floor(random() * 1_000_000)}/${Math.floor(random() * 65_536)}`;
  return equal(...Array.from({ length: count }, name));
}

describe('divide', () => {
  it('gives all shards to one that is alone, and none where nobody is', () => {
    expect(divide(equal('a'), 3)).toEqual(['a', 'a', 'a']);
    expect(divide([], 3)).toEqual([]);
    expect(divide(equal('a', 'a'), 3)).toEqual(['a', 'a', 'a']);
  });

  it('is the same whatever the order of the members, and in every version', () => {
    const members = equal('spout-1', 'spout-2', 'spout-3');
    const owners = divide(members, 16);
    expect(divide(members.toReversed(), 16)).toEqual(owners);
    expect(divide([...members, ...members], 16)).toEqual(owners);
    // Spouts of two versions share a cluster while it is upgraded: another division would be a change of the protocol.
    expect(owners.map((owner) => owner.at(-1)).join('')).toBe('2332322131323111');
  });

  it.each([256, 1_024])('shares %i shards evenly among five, within a tenth', (shards) => {
    for (let seed = 1; seed <= 50; seed++) {
      const loads = [...loadsOf(divide(madeUpMembers(seeded(seed), 5), shards)).values()];
      expect(Math.max(...loads)).toBeLessThanOrEqual((shards / 5) * 1.1);
      expect(Math.min(...loads)).toBeGreaterThanOrEqual((shards / 5) * 0.9);
    }
  });

  it.each([1, 2, 3, 7, 20, 40])('leaves nobody idle among %i members when there are shards enough', (count) => {
    const loads = loadsOf(divide(madeUpMembers(seeded(count), count), 64));
    expect(loads.size).toBe(count);
    expect(Math.max(...loads.values())).toBeLessThanOrEqual(Math.ceil((64 / count) * 1.1));
  });

  it('gives each at most one shard where there are more members than shards', () => {
    const owners = divide(madeUpMembers(seeded(1), 9), 4);
    expect(new Set(owners).size).toBe(4);
  });

  it.each([
    [256, 1.15, 1.3],
    [1_024, 1.08, 1.2],
  ])('moves about a share of %i shards when a sixth member comes or goes', (shards, usually, atWorst) => {
    const factors: number[] = [];
    for (let seed = 1; seed <= 50; seed++) {
      const members = madeUpMembers(seeded(seed), 6);
      const apart = moved(divide(members.slice(1), shards), divide(members, shards));
      factors.push(apart / (shards / 6));
    }
    factors.sort((one, other) => one - other);
    expect(factors[25]).toBeLessThan(usually);
    expect(factors.at(-1)).toBeLessThan(atWorst);
  });

  it('shares by capacity', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const members = madeUpMembers(seeded(seed), 4).map((member, index) => ({ ...member, capacity: index + 1 }));
      const loads = loadsOf(divide(members, 1_000));
      for (const { processId, capacity } of members) {
        expect(loads.get(processId)).toBeGreaterThanOrEqual(capacity * 90);
        expect(loads.get(processId)).toBeLessThanOrEqual(capacity * 110);
      }
    }
  });
});
