// The store accepts a write only from who knows its fence, and each accepted write moves the fence by one step: so each
// (run, version) has at most one accepted transition, and a holder that lost its run, or let it go, changes nothing.

import { printableRun } from '../../../flow/run-id.ts';
import type { Fence } from '../../../store/port.ts';
import type { WriteHappening } from '../world/history.ts';
import type { MakeChecker } from './checker.ts';

export const noStaleWrite: MakeChecker = (_evidence, report) => ({
  see(record, before) {
    if (record.kind !== 'write') return;
    const where = `${record.operation} of ${printableRun(record.run)} by ${record.process}`;
    if (!isSame(record.before, before?.fence)) {
      report(`${where}: the store stood at ${show(record.before)}, the accepted writes at ${show(before?.fence)}`);
    }
    if (record.result !== 'done') {
      if (!isSame(record.before, record.after))
        report(`${where} was refused and moved the fence to ${show(record.after)}`);
      return;
    }
    if (!isSame(record.before, record.expected)) {
      report(`${where} expected ${show(record.expected)} and was accepted at ${show(record.before)}`);
    }
    if (record.operation === 'commit' && before?.holder !== record.process) {
      report(`${where} was accepted, and ${before?.holder ?? 'nobody'} holds the run`);
    }
    const moved = next(record);
    if (!isSame(record.after, moved))
      report(`${where} moved the fence to ${show(record.after)}, not to ${show(moved)}`);
  },
});

/** Where an accepted write has to leave the fence. */
function next({ operation, before, after }: WriteHappening): Fence | undefined {
  switch (operation) {
    case 'create':
      // At (1, 1) when it is created claimed, else at (0, 1).
      return { epoch: after?.epoch === 1 ? 1 : 0, version: 1 };
    case 'claim':
      return before && { epoch: before.epoch + 1, version: before.version + 1 };
    case 'commit':
      return before && { epoch: before.epoch, version: before.version + 1 };
  }
}

function isSame(one: Fence | undefined, other: Fence | undefined): boolean {
  return one?.epoch === other?.epoch && one?.version === other?.version;
}

function show(fence: Fence | undefined): string {
  return fence ? `(${fence.epoch}, ${fence.version})` : 'nothing';
}
