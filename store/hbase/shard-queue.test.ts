import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { AlarmLedger, type RaisedAlarm } from './alarm-ledger.ts';
import { changeNothing } from './cells.ts';
import type { GroupResult, RowGroup } from './client/port.ts';
import { type QueuedWrite, type QueueLoad, ShardQueue } from './shard-queue.ts';

const done: GroupResult = { kind: 'done' };
const conditionFailed: GroupResult = { kind: 'conditionFailed' };

function setUp(options: { maxGroupBytes?: number; load?: Partial<QueueLoad> } = {}) {
  const clock = new ManualClock();
  const calls: string[][] = [];
  const failures: string[] = [];
  /** Answers of the calls to come; done when there are none. */
  const answers: GroupResult[][] = [];
  const load = { writes: 0, bytes: 0, maxWrites: 100, maxBytes: 1_000, ...options.load };
  const rows = {
    read: async (keys: readonly Buffer[]) => keys.map(() => undefined),
    change: async (groups: readonly RowGroup[]) => {
      calls.push(groups.map(({ mutations }) => mutations.map(({ row }) => row.toString()).join()));
      return answers.shift() ?? groups.map(() => done);
    },
  };
  const queue = new ShardQueue(rows, new AlarmLedger(0, () => 'writer'), {
    clock,
    maxGroupWrites: 3,
    maxGroupBytes: options.maxGroupBytes ?? 100,
    maxTries: 4,
    onFailure: (cause) => failures.push(cause),
    load,
  });
  const ended: string[] = [];
  const add = (name: string, more: { key?: string; bytes?: number; again?: boolean; alarms?: RaisedAlarm[] } = {}) => {
    const write: QueuedWrite = {
      key: more.key ?? name,
      bytes: more.bytes ?? 1,
      reads: () => [],
      attempt: () => ({ conditions: [], mutations: [changeNothing(Buffer.from(name))], alarms: more.alarms ?? [] }),
      done: () => ended.push(`${name} done`),
      refused() {
        if (more.again !== true) ended.push(`${name} refused`);
        return more.again === true;
      },
      failed: (cause) => ended.push(`${name} failed: ${cause}`),
      broken: (bug) => ended.push(`${name} broken: ${String(bug)}`),
    };
    queue.add(write);
    return write;
  };
  return { clock, calls, answers, failures, load, queue, ended, add };
}

describe('ShardQueue', () => {
  it('sends what waits in groups, in its order', async () => {
    const { clock, calls, add, ended, load } = setUp();
    for (const name of ['a', 'b', 'c', 'd']) add(name);
    await clock.advance(0);
    expect(calls).toEqual([['a,b,c'], ['d']]);
    expect(ended).toEqual(['a done', 'b done', 'c done', 'd done']);
    expect([load.writes, load.bytes]).toEqual([0, 0]);
  });

  it('a key is once in a group, and the first is decided first', async () => {
    const { clock, calls, add } = setUp();
    add('a', { key: 'run' });
    add('b', { key: 'run' });
    add('c');
    await clock.advance(0);
    expect(calls).toEqual([['a,c'], ['b']]);
  });

  it('a group has a size in bytes, a large write goes alone', async () => {
    const { clock, calls, add } = setUp();
    add('a', { bytes: 60 });
    add('b', { bytes: 60 });
    add('c', { bytes: 500 });
    await clock.advance(0);
    expect(calls).toEqual([['a'], ['b'], ['c']]);
  });

  it('when a condition of a group fails, each write is sent for itself', async () => {
    const { clock, calls, answers, add, ended } = setUp();
    answers.push([conditionFailed], [done, conditionFailed]);
    add('a');
    add('b');
    await clock.advance(0);
    expect(calls).toEqual([['a,b'], ['a', 'b']]);
    expect(ended).toEqual(['a done', 'b refused']);
  });

  it('one that wants another attempt gets it alone, a few times', async () => {
    const { clock, calls, answers, add, ended } = setUp();
    answers.push(...Array.from({ length: 4 }, () => [conditionFailed]));
    add('a', { again: true });
    await clock.advance(0);
    expect(calls).toHaveLength(4);
    expect(ended).toEqual(['a failed: others changed the same rows 4 times meanwhile']);
  });

  it('an unknown end is that of all, and told once', async () => {
    const { clock, answers, add, ended, failures } = setUp();
    answers.push([{ kind: 'unknown', cause: 'no answer' }]);
    add('a');
    add('b');
    await clock.advance(0);
    expect(ended).toEqual(['a failed: no answer', 'b failed: no answer']);
    expect(failures).toEqual(['no answer']);
  });

  it('what a server refuses for good takes no other with it', async () => {
    const { clock, answers, add, ended } = setUp();
    answers.push([{ kind: 'refused', cause: 'too large' }], [done, { kind: 'refused', cause: 'too large' }]);
    add('a');
    add('b');
    await clock.advance(0);
    expect(ended).toEqual(['a done', 'b failed: too large']);
  });

  it('a bug of one write is its own', async () => {
    const { clock, add, ended, load } = setUp();
    add('a');
    add('b').attempt = () => {
      throw new Error('bug');
    };
    await clock.advance(0);
    expect(ended).toEqual(['b broken: Error: bug', 'a done']);
    expect(load.writes).toBe(0);
  });

  it('refuses what waits beyond its limits', async () => {
    const { clock, add, ended } = setUp({ load: { maxWrites: 1 } });
    add('a');
    add('b');
    expect(ended).toEqual(['b failed: too many writes are waiting: 1, 1 bytes']);
    await clock.advance(0);
    expect(ended).toHaveLength(2);
  });

  it('drained resolves when nothing waits', async () => {
    const { clock, queue, add, ended } = setUp();
    await queue.drained();
    add('a');
    const drained = queue.drained().then(() => ended.push('drained'));
    await clock.advance(0);
    await drained;
    expect(ended).toEqual(['a done', 'drained']);
  });
});
