import { describe, expect, it } from 'vitest';
import { type ListedSpout, type OwnershipSettings, ShardOwnership } from './ownership.ts';

const shards = 64;
const settings: OwnershipSettings = {
  settleMs: 500,
  handOverMs: 1_000,
  firstPenaltyMs: 10_000,
  longestPenaltyMs: 120_000,
  flapMemoryMs: 600_000,
};

/** Spouts with one list of members, which each sees at the same time, or `lateMs` later. */
class Cluster {
  readonly #spouts = new Map<string, { readonly listed: ListedSpout; readonly ownership: ShardOwnership }>();
  readonly #late: Array<{ readonly atMs: number; readonly see: () => void }> = [];
  /** By incarnation. */
  readonly #listed = new Map<string, ListedSpout>();
  nowMs = 0;
  /** Shards that nobody, and that several scanned, times how long, in ms. */
  unownedMs = 0;
  overlapMs = 0;

  starts(processId: string, incarnation = `${processId}-1`, lateMs = 0): ShardOwnership {
    const listed = { processId, incarnation, capacity: 1 };
    const ownership = new ShardOwnership(listed, shards, settings);
    this.#spouts.set(processId, { listed, ownership });
    this.#listed.set(incarnation, listed);
    this.#tell(lateMs);
    return ownership;
  }

  /** The process is no more; the list says so when its session is over. */
  dies(processId: string): void {
    this.#spouts.delete(processId);
  }

  /** The list shows none of its incarnations any more; the process, if it lives, sees that too. */
  isGone(processId: string, lateMs = 0): void {
    for (const [incarnation, listed] of this.#listed) {
      if (listed.processId === processId) this.#listed.delete(incarnation);
    }
    this.#tell(lateMs);
  }

  isBack(processId: string): void {
    const { listed } = this.#spouts.get(processId) ?? {};
    if (listed) this.#listed.set(listed.incarnation, listed);
    this.#tell(0);
  }

  own(processId: string): readonly number[] {
    return this.#spouts.get(processId)?.ownership.own ?? [];
  }

  run(durationMs: number, stepMs = 50): void {
    for (const endMs = this.nowMs + durationMs; this.nowMs < endMs; this.nowMs += stepMs) {
      for (const late of this.#late.splice(0)) {
        if (late.atMs <= this.nowMs) late.see();
        else this.#late.push(late);
      }
      for (const { ownership } of this.#spouts.values()) {
        const { nextMs } = ownership;
        if (nextMs !== undefined && nextMs <= this.nowMs) ownership.advance(this.nowMs);
      }
      this.#measure(stepMs);
    }
  }

  #measure(stepMs: number): void {
    const scanning = Array.from({ length: shards }, () => 0);
    for (const { ownership } of this.#spouts.values()) {
      for (const shard of ownership.own) scanning[shard] = (scanning[shard] ?? 0) + 1;
    }
    this.unownedMs += scanning.filter((count) => count === 0).length * stepMs;
    this.overlapMs += scanning.filter((count) => count > 1).length * stepMs;
  }

  /** Others see the list at once; the one that changed it `lateMs` before or after them. */
  #tell(lateMs: number): void {
    const list = [...this.#listed.values()];
    for (const [index, { ownership }] of [...this.#spouts.values()].entries()) {
      const atMs = this.nowMs + (index % 2 === 0 ? lateMs : 0);
      if (atMs === this.nowMs) ownership.see(list, atMs);
      else this.#late.push({ atMs, see: () => ownership.see(list, this.nowMs) });
    }
  }
}

function cluster(...processIds: string[]): Cluster {
  const made = new Cluster();
  for (const processId of processIds) made.starts(processId);
  made.run(5_000);
  made.unownedMs = 0;
  made.overlapMs = 0;
  return made;
}

describe('ShardOwnership', () => {
  it('scans everything from the first moment when it is alone', () => {
    const made = new Cluster();
    expect(made.starts('a').own).toHaveLength(shards);
  });

  it('lets the old owner stop before the new one begins, within a bound', () => {
    const made = cluster('a', 'b');
    made.starts('c');
    made.run(500);
    expect(made.own('a').length + made.own('b').length).toBe(shards);
    made.run(100);
    expect(made.own('a').length + made.own('b').length).toBeLessThan(shards);
    expect(made.own('c')).toEqual([]);
    made.run(1_000);
    expect(made.own('c').length).toBeGreaterThan(shards / 4);
    made.run(10_000);
    expect(made.overlapMs).toBe(0);
    expect(made.unownedMs).toBeLessThanOrEqual(1_000 * (shards / 3) * 1.3);
  });

  it('has no two owners though spouts hear of changes up to a second apart', () => {
    const made = cluster('a', 'b', 'c');
    made.starts('d', 'd-1', 900);
    made.run(10_000);
    expect(made.overlapMs).toBe(0);
    expect(['a', 'b', 'c', 'd'].map((id) => made.own(id).length).every((count) => count >= 14)).toBe(true);
  });

  it('takes over from a dead one within half a second of its disappearance, a second when more changes', () => {
    const made = cluster('a', 'b', 'c');
    made.dies('b');
    made.isGone('b');
    made.run(600);
    expect(made.own('a').length + made.own('c').length).toBe(shards);
    made.dies('c');
    made.isGone('c');
    for (let turn = 0; turn < 5; turn++) {
      made.starts(`new-${turn}`);
      made.run(200);
    }
    made.run(100);
    expect(made.own('a').length).toBeGreaterThan(0);
    made.run(5_000);
    made.unownedMs = 0;
    made.run(5_000);
    expect([made.unownedMs, made.overlapMs]).toEqual([0, 0]);
  });

  it('moves nothing when a spout is restarted under its name before its session is over', () => {
    const made = cluster('a', 'b');
    const before = made.own('b');
    made.dies('b');
    made.run(1_000);
    const again = made.starts('b', 'b-2');
    expect(again.own).toEqual(before);
    made.run(10_000);
    expect(made.own('b')).toEqual(before);
    expect(made.overlapMs).toBe(0);
  });

  it('scans nothing while the list is without it, and at once what it had when it is back soon', () => {
    const made = cluster('a', 'b');
    const before = made.own('b');
    made.isGone('b');
    expect(made.own('b')).toEqual([]);
    made.run(300);
    made.isBack('b');
    expect(made.own('b')).toEqual(before);
    expect(made.overlapMs).toBe(0);
  });

  it('begins as a newcomer when it was away for long', () => {
    const made = cluster('a', 'b');
    made.isGone('b');
    made.run(2_000);
    expect(made.own('a')).toHaveLength(shards);
    made.isBack('b');
    made.run(5_000);
    expect(made.overlapMs).toBe(0);
    expect(made.own('b').length).toBeGreaterThan(shards / 3);
  });

  it('waits for nobody when a spout comes and goes again and again: the others keep what it is given', () => {
    const made = cluster('a', 'b', 'c');
    const comeAndGo = () => {
      made.dies('c');
      made.isGone('c');
      made.run(2_000);
      made.starts('c', `c-${made.nowMs}`);
      made.run(4_000);
    };
    for (let turn = 0; turn < 2; turn++) comeAndGo();
    made.unownedMs = 0;
    const kept = [made.own('a'), made.own('b')];
    for (let turn = 0; turn < 5; turn++) {
      comeAndGo();
      expect([made.own('a'), made.own('b')]).toEqual(kept);
    }
    expect(made.unownedMs).toBe(0);
    made.run(130_000);
    made.overlapMs = 0;
    made.run(5_000);
    expect([made.overlapMs, made.unownedMs]).toEqual([0, 0]);
  });

  it('leaves no shard alone when one that comes and goes meets one that knows nothing of that', () => {
    const made = cluster('a', 'b', 'c');
    for (let turn = 0; turn < 3; turn++) {
      made.dies('c');
      made.isGone('c');
      made.run(2_000);
      made.starts('c', `c-${turn}`);
      made.run(4_000);
    }
    made.starts('new');
    made.run(2_000);
    made.unownedMs = 0;
    made.run(150_000);
    expect(made.unownedMs).toBe(0);
  });
});
