// Faults of the store and of the run locks.

import type { Mutant } from './mutant.ts';

const store = 'store/memory/memory-store.ts';
const row = 'store/memory/memory-row.ts';
const locks = 'platform/coordination/in-process-run-locks.ts';

export const storeMutants: readonly Mutant[] = [
  {
    name: 'fences are not compared',
    file: row,
    line: 'return row.epoch === fence.epoch && row.version === fence.version;',
    instead: 'return true;',
    caughtBy: 'no stale write',
  },
  {
    name: 'versions are not compared',
    file: row,
    line: 'return row.epoch === fence.epoch && row.version === fence.version;',
    instead: 'return row.epoch === fence.epoch;',
    caughtBy: 'no stale write',
  },
  {
    name: 'the epoch comes from a counter that resets',
    file: store,
    line: 'row.epoch++;',
    instead: 'row.epoch = (row.epoch % 2) + 1;',
    caughtBy: 'no stale write',
  },
  {
    name: 'a create does not ask whether the run is there',
    file: store,
    line: "if (this.#rows.has(run)) return { kind: 'exists' };",
    instead: '',
    caughtBy: 'no stale write',
  },
  {
    name: 'a fenced holder drops inbox rows',
    file: store,
    line: 'const encoded = encodeChanges(write.changes, write.expected.epoch);',
    instead:
      'const encoded = encodeChanges(write.changes, write.expected.epoch); for (const id of encoded.consumed) this.#rows.get(write.run)?.inbox.delete(id);',
    caughtBy: 'inbox consumed once',
  },
  {
    name: 'a consumed event stays in the inbox',
    file: row,
    line: 'if (event) event.bytes = undefined;',
    instead: 'void event;',
    caughtBy: 'inbox consumed once',
  },
  {
    name: 'ids of consumed events are forgotten',
    file: row,
    line: 'if (event) event.bytes = undefined;',
    instead: 'row.inbox.delete(id);',
    caughtBy: 'inbox consumed once',
  },
  {
    name: 'commits leave out removed cells and one field',
    file: row,
    line: 'if (cell) cells.set(name, cell);',
    instead: "if (cell && !name.endsWith('_mark')) cells.set(name, cell);",
    caughtBy: 'replay gives the store',
  },
  {
    name: 'a claim writes no lease',
    file: store,
    line: 'row.entries = { ...write.entries };',
    instead: 'row.entries = { ready: false };',
    caughtBy: 'everything ends',
  },
  {
    name: 'a commit counts as a claim in vain',
    file: store,
    line: 'row.barrenClaims = 0;',
    instead: 'row.barrenClaims++;',
    caughtBy: 'parked for a reason',
  },
  {
    name: 'barren claims are not counted',
    file: store,
    line: 'row.barrenClaims++;',
    instead: '',
    caughtBy: 'parked for a reason',
  },
  {
    name: 'promotion loses the timer',
    file: store,
    line: 'row.entries = { ready: true, timerMs: state === State.OPEN ? Math.max(deadlineMs, dueMs) : dueMs };',
    instead: 'row.entries = { ready: true };',
    caughtBy: 'found again',
  },
  {
    name: 'promotion asks neither fence nor time',
    file: store,
    line: `!hasFence(row, fence) ||
        row.entries.timerMs !== dueMs ||`,
    instead: 'row.entries.timerMs === undefined ||',
    caughtBy: 'found again',
  },
  {
    name: 'a generation begins while the one before it is open',
    file: store,
    line: 'if (!row || !isTerminal(row.control.state)) return false;',
    instead: 'if (!row) return false;',
    caughtBy: 'generations follow',
  },
  {
    name: 'superseding leaves the fence',
    file: store,
    line: `row.version++;
    return true;`,
    instead: 'return true;',
    caughtBy: 'no stale write',
  },
  {
    name: 'locks never expire',
    file: locks,
    line: 'this.#locks.set(run, { owner, untilMs });',
    instead: 'this.#locks.set(run, { owner, untilMs: Infinity });',
    caughtBy: 'everything ends',
  },
];
