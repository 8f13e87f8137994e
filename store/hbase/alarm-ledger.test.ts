import { describe, expect, it } from 'vitest';
import { AlarmLedger, type RaisedAlarm } from './alarm-ledger.ts';

const alarm = (key: string, atMs: number): RaisedAlarm => ({ key, atMs, bytes: Uint8Array.of(1), shared: true });

function newLedger() {
  let columns = 0;
  return new AlarmLedger(0, () => `writer${++columns}`);
}

/** What is written: kind, timestamp and column of each mutation. */
function shown(ledger: AlarmLedger, alarms: readonly RaisedAlarm[], applied: boolean | undefined): string[] {
  const planned = ledger.plan(alarms);
  planned.settle(applied);
  return planned.mutations.map((mutation) => {
    const qualifier = mutation.kind === 'put' ? mutation.cells[0]?.qualifier : mutation.qualifiers?.[0];
    return `${mutation.kind} ${mutation.timestamp} ${String(qualifier)}`;
  });
}

describe('AlarmLedger', () => {
  it('counts in a column of its own, and moves the place when the time moved', () => {
    const ledger = newLedger();
    expect(shown(ledger, [alarm('a', 5)], true)).toEqual(['put 1 writer1', 'put 1 v']);
    expect(shown(ledger, [alarm('a', 5)], true), 'same time').toEqual(['put 2 writer1', 'put 2 v']);
    expect(shown(ledger, [alarm('a', 4), alarm('a', 9)], true)).toEqual(['put 4 writer1', 'put 4 v', 'delete 4 v']);
  });

  it('what was not applied is not counted', () => {
    const ledger = newLedger();
    shown(ledger, [alarm('a', 5)], true);
    shown(ledger, [alarm('a', 6)], false);
    expect(shown(ledger, [alarm('a', 6)], true)).toContain('put 2 writer1');
  });

  it('after a doubtful end it goes on in another column', () => {
    const ledger = newLedger();
    shown(ledger, [alarm('a', 5)], true);
    expect(shown(ledger, [alarm('a', 6)], undefined)).toContain('put 2 writer1');
    expect(shown(ledger, [alarm('a', 7)], true)).toEqual(['put 1 writer2', 'put 1 v']);
  });
});
