import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts';

/** An error as node:sqlite throws it. */
function sqliteError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode: code, errstr: message });
}

const ioError = 10 | (4 << 8); // SQLITE_IOERR_FSYNC

function setUp(options: Partial<GroupCommitOptions> = {}) {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE note (text TEXT NOT NULL UNIQUE)');
  const insert = database.prepare('INSERT INTO note VALUES (?)');
  const clock = new ManualClock();
  const failures: Array<{ kind: string; cause: string }> = [];
  let rollbacks = 0;
  const faults: Record<string, Error | undefined> = {};
  const faulty = new Proxy(database, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          const statement = target.prepare(sql);
          return new Proxy(statement, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name, target);
              if (typeof value !== 'function') return value;
              return (...values: unknown[]) => {
                const fault = faults[sql];
                if (fault) throw fault;
                return Reflect.apply(value, target, values) as unknown;
              };
            },
          });
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const group = new GroupCommit(faulty, () => rollbacks++, {
    clock,
    maxPauseMs: 5,
    maxGroupWrites: 100,
    maxGroupBytes: 1_000,
    maxWaitingWrites: 1_000,
    maxWaitingBytes: 10_000,
    checkpointPages: 1_000,
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  const write = (text: string, bytes = 1) =>
    group.ask(
      bytes,
      () => {
        insert.run(text);
        return 'done';
      },
      (cause) => cause,
    );
  const notes = () =>
    database
      .prepare('SELECT text FROM note ORDER BY text')
      .all()
      .map(({ text }) => text);
  return { group, clock, database, faults, failures, write, notes, rollbacks: () => rollbacks };
}

describe('GroupCommit', () => {
  it('answers only after COMMIT', async () => {
    const { clock, write, group, notes } = setUp();
    const answers: string[] = [];
    void write('a').then((answer) => answers.push(answer));
    expect([notes(), group.transactions]).toEqual([[], 0]);
    await clock.advance(0);
    expect([answers, notes(), group.transactions]).toEqual([['done'], ['a'], 1]);
  });

  it('groups by number and by bytes, in the order of asking', async () => {
    const { clock, write, group } = setUp({ maxGroupWrites: 3 });
    const answers = Promise.all([
      ...['a', 'b', 'c', 'd'].map((text) => write(text)),
      write('large', 900),
      write('larger', 5_000),
      write('e'),
    ]);
    await clock.advance(0);
    expect(await answers).toEqual(Array(7).fill('done'));
    // a b c | d large | larger | e
    expect(group.transactions).toBe(4);
  });

  it('rests after a group of several for three times as long as it took, but not for longer than it may', async () => {
    let nowMs = 0;
    const due: Array<{ readonly delayMs: number; readonly action: () => void }> = [];
    const after = (delayMs: number, action: () => void) => {
      due.push({ delayMs, action });
      return { cancel() {} };
    };
    const clock = { monotonicMs: () => nowMs, soon: (action: () => void) => void after(0, action), after };
    const { group } = setUp({ clock, maxPauseMs: 5 });
    const restBefore = (writes: number, tookMs: number): number => {
      for (let write = 0; write < writes; write++) {
        void group.ask(
          1,
          () => (nowMs += tookMs / writes),
          () => Number.NaN,
        );
      }
      const next = due.shift();
      nowMs += next?.delayMs ?? 0;
      next?.action();
      return next?.delayMs ?? Number.NaN;
    };
    expect([restBefore(1, 8), restBefore(2, 1), restBefore(2, 8), restBefore(1, 0)]).toEqual([0, 0, 3, 5]);
  });

  it('refuses what waits beyond its limits, and takes one large write when nothing waits', async () => {
    const { clock, write } = setUp({ maxWaitingWrites: 3, maxWaitingBytes: 100 });
    const answers = Promise.all([write('a', 500), write('b', 1)]);
    await clock.advance(0);
    expect(await answers).toEqual(['done', 'too many writes are waiting: 1, 500 bytes']);
    const more = Promise.all(['c', 'd', 'e', 'f'].map((text) => write(text)));
    await clock.advance(0);
    expect(await more).toEqual(['done', 'done', 'done', 'too many writes are waiting: 3, 3 bytes']);
  });

  it('a write that fails takes no other with it', async () => {
    const { clock, write, group, notes, rollbacks } = setUp();
    const answers = Promise.allSettled([write('a'), write('twice'), write('twice'), write('b')]);
    await clock.advance(0);
    expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(notes()).toEqual(['a', 'b', 'twice']);
    expect(rollbacks()).toBe(2);
    expect(group.stopped).toBeUndefined();
  });

  it('a full disk fails the writes that do not fit, and the next one is tried', async () => {
    const { clock, database, write, failures, notes } = setUp();
    database.exec(`PRAGMA max_page_count = ${Number(database.prepare('PRAGMA page_count').get()?.['page_count'])}`);
    const answers = Promise.all([write('small'), write('x'.repeat(100_000))]);
    await clock.advance(0);
    expect(await answers).toEqual(['done', 'database or disk is full']);
    expect(failures).toEqual([{ kind: 'failed', cause: 'database or disk is full' }]);
    database.exec('PRAGMA max_page_count = 1000000');
    const again = write('x'.repeat(100_000));
    await clock.advance(0);
    expect(await again).toBe('done');
    expect(notes()).toHaveLength(2);
  });

  for (const [statement, stored] of [
    ['BEGIN IMMEDIATE', []],
    ['COMMIT', []],
  ] as const) {
    it(`a busy database fails all writes of ${statement}, and nothing else`, async () => {
      const { clock, faults, write, group, notes } = setUp();
      faults[statement] = sqliteError(5, 'database is locked');
      const answers = Promise.all([write('a'), write('b')]);
      await clock.advance(0);
      expect(await answers).toEqual(['database is locked', 'database is locked']);
      expect(notes()).toEqual(stored);
      delete faults[statement];
      const again = write('a');
      await clock.advance(0);
      expect(await again).toBe('done');
      expect(group.stopped).toBeUndefined();
    });
  }

  it('a failed fsync stops it for good: never again is a write answered as done', async () => {
    const { clock, faults, failures, write, group } = setUp();
    faults['COMMIT'] = sqliteError(ioError, 'disk I/O error');
    const answers = Promise.all([write('a'), write('b')]);
    await clock.advance(0);
    const stopped = 'the store has stopped: disk I/O error';
    expect(await answers).toEqual([stopped, stopped]);
    expect(failures).toEqual([{ kind: 'stopped', cause: 'disk I/O error' }]);
    delete faults['COMMIT'];
    expect(await write('c')).toBe(stopped);
    expect(group.stopped).toBe(stopped);
    expect(group.transactions).toBe(0);
  });

  it('what waits behind a failed fsync fails too', async () => {
    const { clock, faults, write } = setUp({ maxGroupWrites: 1 });
    faults['COMMIT'] = sqliteError(ioError, 'disk I/O error');
    const answers = Promise.all([write('a'), write('b')]);
    await clock.advance(0);
    expect(new Set(await answers)).toEqual(new Set(['the store has stopped: disk I/O error']));
  });

  it('a failed checkpoint stops it: its fsync may have lost what COMMIT had kept', async () => {
    const { clock, faults, write, group } = setUp();
    faults['PRAGMA wal_checkpoint(NOOP)'] = sqliteError(ioError, 'disk I/O error');
    const answer = write('a');
    await clock.advance(0);
    expect(await answer).toBe('done');
    expect(group.stopped).toBe('the store has stopped: disk I/O error');
  });

  it('drain answers all that waits, now', async () => {
    const { write, group } = setUp({ maxGroupWrites: 2 });
    const answers = Promise.all(['a', 'b', 'c'].map((text) => write(text)));
    group.drain();
    expect(await answers).toEqual(['done', 'done', 'done']);
    expect(group.transactions).toBe(2);
  });
});
