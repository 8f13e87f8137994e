import { describe, expect, it } from 'vitest';
import { ScanPlan } from './scan-plan.ts';

interface Hit {
  readonly control: { readonly level: number; readonly order: number };
}

function hit(level: number, order: number): Hit {
  return { control: { level, order } };
}

function takeAll(plan: ScanPlan<Hit, string>): string[] {
  const taken: string[] = [];
  for (let first = plan.first(); first; first = plan.first()) {
    taken.push(`${first.control.level}/${first.control.order}`);
    plan.take();
  }
  return taken;
}

describe('ScanPlan', () => {
  it('merges shards by level, then order', () => {
    const plan = new ScanPlan<Hit, string>([0, 1]);
    plan.add(0, [hit(1, 5), hit(2, 1), hit(2, 4)]);
    plan.add(1, [hit(1, 3), hit(2, 2)]);
    expect(takeAll(plan)).toEqual(['1/3', '1/5', '2/1', '2/2', '2/4']);
    expect(plan.finished).toBe(true);
  });

  it('waits for a page of every shard, since any may hold what goes first', () => {
    const plan = new ScanPlan<Hit, string>([0, 1]);
    expect(plan.needs()).toEqual([{ shard: 0 }, { shard: 1 }]);
    plan.add(0, [hit(1, 1)]);
    expect(plan.first()).toBeUndefined();
    expect(plan.needs()).toEqual([{ shard: 1 }]);
  });

  it('asks for the next page of a shard before it goes on past its last entry', () => {
    const plan = new ScanPlan<Hit, string>([0, 1]);
    plan.add(0, [hit(1, 1)], 'after 1');
    plan.add(1, [hit(1, 3)]);
    expect(takeAll(plan)).toEqual(['1/1']);
    expect(plan.needs()).toEqual([{ shard: 0, after: 'after 1' }]);
    plan.add(0, [hit(1, 2)]);
    expect(takeAll(plan)).toEqual(['1/2', '1/3']);
  });

  it('takes equal ranks in the order of the shards', () => {
    const plan = new ScanPlan<Hit & { name: string }, string>([4, 2]);
    plan.add(4, [{ ...hit(1, 1), name: 'of 4' }]);
    plan.add(2, [{ ...hit(1, 1), name: 'of 2' }]);
    expect(plan.first()?.name).toBe('of 4');
  });

  it('says which levels wait', () => {
    const plan = new ScanPlan<Hit, string>([0]);
    expect(plan.waiting).toBe(0);
    plan.add(0, [hit(1, 1), hit(9, 1)]);
    expect(plan.waiting).toBe(0b1_0000_0001);
    plan.take();
    expect(plan.waiting).toBe(0b1_0000_0000);
    expect(plan.found).toBe(2);
  });

  it('is finished at once without shards', () => {
    expect(new ScanPlan<Hit, string>([]).finished).toBe(true);
  });

  it('refuses a page that it does not need, and to take what is not there', () => {
    const plan = new ScanPlan<Hit, string>([0]);
    plan.add(0, [hit(1, 1)]);
    expect(() => plan.add(0, [hit(1, 2)])).toThrow('invariant P1');
    expect(() => plan.add(7, [])).toThrow('invariant P1');
    plan.take();
    expect(() => plan.take()).toThrow('invariant P1');
  });
});
