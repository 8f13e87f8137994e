import { describe, expect, it } from 'vitest';
import type { RingMember } from './ring.ts';
import { RingMembers } from './ring-members.ts';

const settings = { settleMs: 500, firstPenaltyMs: 10_000, longestPenaltyMs: 40_000, flapMemoryMs: 600_000 };

function list(...processIds: string[]): RingMember[] {
  return processIds.map((processId) => ({ processId, capacity: 1 }));
}

const everybody = () => true;

/** Members that settled at 0, with what was done to them since. */
class Seen {
  readonly members = new RingMembers(settings);

  constructor(...processIds: string[]) {
    this.members.see(list(...processIds), everybody, 0);
  }

  see(nowMs: number, ...processIds: string[]): void {
    this.members.settle(nowMs);
    this.members.see(list(...processIds), everybody, nowMs);
  }

  at(nowMs: number): string {
    this.members.settle(nowMs);
    return this.members.all.map(({ processId }) => processId).join('');
  }

  steadyAt(nowMs: number): string {
    this.members.settle(nowMs);
    return this.members.steady.map(({ processId }) => processId).join('');
  }
}

describe('RingMembers', () => {
  it('counts at once whom it finds there, and itself when the list has been quiet', () => {
    const members = new RingMembers(settings);
    members.see(list('a', 'b', 'me'), ({ processId }) => processId !== 'me', 0);
    expect(members.all).toEqual(list('a', 'b'));
    expect(members.nextMs).toBe(500);
    members.settle(499);
    expect(members.all).toEqual(list('a', 'b'));
    members.settle(500);
    expect(members.all).toEqual(list('a', 'b', 'me'));
    expect(members.nextMs).toBeUndefined();
  });

  it('counts itself at once where nobody else is', () => {
    const members = new RingMembers(settings);
    members.see([], everybody, 0);
    members.see(list('me'), () => false, 100);
    expect(members.all).toEqual(list('me'));
    expect(members.nextMs).toBeUndefined();
  });

  it('lets changes that come together count together, soon enough when they never end', () => {
    const seen = new Seen('a');
    seen.see(0, 'a', 'b');
    seen.see(400, 'a', 'b', 'c');
    expect(seen.at(899)).toBe('a');
    expect(seen.at(900)).toBe('abc');
    for (let nowMs = 2_000; nowMs < 3_000; nowMs += 100) seen.see(nowMs, 'a', `n${nowMs}`);
    expect(seen.at(2_999)).toBe('abc');
    expect(seen.at(3_000)).toBe('an2900');
  });

  it('takes no notice of a change that is taken back at once', () => {
    const seen = new Seen('a', 'b');
    seen.see(0, 'a');
    seen.see(499, 'a', 'b');
    expect(seen.members.nextMs).toBeUndefined();
    expect(seen.at(10_000)).toBe('ab');
  });

  it('takes notice of another capacity, and of the larger one of a member that is listed twice', () => {
    const members = new RingMembers(settings);
    members.see(list('a'), everybody, 0);
    members.see([{ processId: 'a', capacity: 3 }, ...list('a')], everybody, 0);
    members.settle(500);
    expect(members.all).toEqual([{ processId: 'a', capacity: 3 }]);
  });

  it('relies later each time on who comes and goes, up to a limit', () => {
    const seen = new Seen('a', 'b');
    let nowMs = 0;
    const comeAndGo = () => {
      seen.see(nowMs, 'a');
      expect(seen.at(nowMs + 1_000)).toBe('a');
      seen.see(nowMs + 1_000, 'a', 'b');
      nowMs += 1_500;
      expect(seen.at(nowMs)).toBe('ab');
    };
    comeAndGo();
    expect(seen.steadyAt(nowMs)).toBe('ab');
    for (const penaltyMs of [10_000, 20_000, 40_000, 40_000]) {
      comeAndGo();
      expect(seen.steadyAt(nowMs)).toBe('a');
      expect(seen.members.nextMs).toBe(nowMs + penaltyMs);
      expect(seen.steadyAt(nowMs + penaltyMs - 1)).toBe('a');
      expect(seen.steadyAt(nowMs + penaltyMs)).toBe('ab');
    }
  });

  it('forgets departures that are long ago, and the oldest where there are too many', () => {
    const seen = new Seen('a', 'b');
    const comeAndGo = (nowMs: number) => {
      seen.see(nowMs, 'a');
      seen.at(nowMs + 500);
      seen.see(nowMs + 500, 'a', 'b');
      seen.at(nowMs + 1_000);
    };
    comeAndGo(0);
    comeAndGo(700_000);
    expect(seen.steadyAt(701_000)).toBe('ab');
    const others = Array.from({ length: 1_000 }, (_, index) => `other-${index}`);
    seen.see(702_000, 'a', 'b', ...others);
    seen.at(702_500);
    seen.see(703_000, 'a', 'b');
    seen.at(703_500);
    comeAndGo(704_000);
    expect(seen.steadyAt(705_000)).toBe('ab');
  });
});
