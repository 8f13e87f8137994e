import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { Room } from './room.ts';

function room(maxRuns = 3, maxBytes = 100) {
  const clock = new ManualClock();
  return { clock, room: new Room(clock, { maxRuns, maxBytes }) };
}

const always = () => true;

describe('room', () => {
  it('ends with the runs, or with their bytes', () => {
    const { room: byRuns } = room(2, 100);
    expect([byRuns.take(1), byRuns.take(1), byRuns.take(1)]).toEqual([true, true, false]);
    const { room: byBytes } = room(9, 100);
    expect([byBytes.take(60), byBytes.take(60), byBytes.take(40)]).toEqual([true, false, true]);
    expect(byBytes.available()).toEqual({ runs: 7, bytes: 0 });
  });

  it('takes one run whatever it weighs, and waits for no more runs than it can hold', async () => {
    const { room: tested } = room(2, 100);
    await tested.whenRoomFor(9, always, 1_000);
    expect([tested.take(500), tested.take(1)]).toEqual([true, false]);
  });

  it('lets those pass whom the ones before them do not go before', async () => {
    const { clock, room: tested } = room(1);
    tested.take(0);
    const woken: string[] = [];
    void tested.whenRoomFor(1, () => false, 9_000).then(() => woken.push('low level'));
    void tested.whenRoomFor(1, always, 9_000).then(() => woken.push('high level'));
    tested.give(0);
    await clock.advance(0);
    expect(woken).toEqual(['high level']);
  });

  it('is not promised twice in one turn', async () => {
    const { clock, room: tested } = room(2);
    const woken: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      void tested.whenRoomFor(1, always, 9_000).then(() => {
        tested.take(0);
        woken.push(name);
      });
    }
    await clock.advance(1);
    expect(woken).toEqual(['first', 'second']);
  });

  it('tells when a place became free', () => {
    const { room: tested } = room();
    let freed = 0;
    tested.onFreed = () => freed++;
    tested.take(10);
    tested.give(10);
    expect(freed).toBe(1);
    expect(() => tested.give(10)).toThrow('given back twice');
  });

  it('wakes who waits for it in the order of coming, one at a time', async () => {
    const { clock, room: tested } = room(2);
    tested.take(0);
    tested.take(0);
    const woken: string[] = [];
    for (const name of ['first', 'second']) {
      void tested.whenRoomFor(1, always, 1_000).then(() => {
        tested.take(0);
        woken.push(name);
      });
    }
    tested.give(0);
    await clock.advance(0);
    expect(woken).toEqual(['first']);
    tested.give(0);
    await clock.advance(0);
    expect(woken).toEqual(['first', 'second']);
  });

  it('is not for those whom others go before', async () => {
    const { clock, room: tested } = room();
    let backlog = true;
    const woken: string[] = [];
    for (const name of ['first', 'second']) {
      void tested.whenRoomFor(1, () => !backlog, 1_000).then(() => woken.push(name));
    }
    tested.recheck();
    await clock.advance(1);
    expect(woken).toEqual([]);
    backlog = false;
    tested.recheck();
    await clock.advance(1);
    expect(woken).toEqual(['first', 'second']);
  });

  it('has none while nothing may begin, and tells when that changes', async () => {
    const { clock, room: tested } = room(2);
    let told = 0;
    tested.onFreed = () => told++;
    let mayBegin = false;
    tested.mayBegin = () => mayBegin;
    expect([tested.available(), tested.take(1)]).toEqual([{ runs: 0, bytes: 0 }, false]);
    const woken: string[] = [];
    void tested.whenRoomFor(1, always, 9_000).then(() => woken.push('patient'));
    await clock.advance(5_000);
    expect(woken).toEqual([]);
    mayBegin = true;
    tested.mayBeginChanged();
    await clock.advance(0);
    expect([woken, told, tested.take(1)]).toEqual([['patient'], 1, true]);
    mayBegin = false;
    tested.give(1);
    expect(tested.take(1)).toBe(false);
  });

  it('lets nobody wait for longer than they said, or after it closed', async () => {
    const { clock, room: tested } = room(1);
    tested.take(0);
    const woken: string[] = [];
    void tested.whenRoomFor(1, always, 1_000).then(() => woken.push('impatient'));
    void tested.whenRoomFor(1, always, 9_000).then(() => woken.push('closed'));
    await clock.advance(999);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual(['impatient']);
    tested.close();
    await clock.advance(0);
    expect(woken).toEqual(['impatient', 'closed']);
    expect(tested.available()).toEqual({ runs: 0, bytes: 0 });
  });
});
