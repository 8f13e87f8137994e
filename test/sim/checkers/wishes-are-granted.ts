// An event that is consumed does what it says, where it isn't too late: a cancel ends what is open or parked, a retry that names the
// present outcome reopens it unless a newer generation is there, a release lets a parked run go on, a level that exists is taken.

import { isLevel } from '../../../flow/level.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { type InboxEvent, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker, RunView } from './checker.ts';

export const wishesAreGranted: MakeChecker = ({ events }, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !before || !after) return;
    const consumed = record.changes.consumed.flatMap((id) => events.get(id)?.kind ?? []);
    for (const kind of consumed) {
      const wrong = ignored(kind, consumed, before, after);
      if (wrong) report(`${printableRun(record.run)}: a ${kind.case} was consumed and ${wrong}`);
    }
  },
});

function ignored(
  kind: InboxEvent['kind'],
  all: ReadonlyArray<InboxEvent['kind']>,
  before: RunView,
  after: RunView,
): string | undefined {
  const [was, is] = [before.control.status, after.control.status];
  const isSame = is.state === was.state && is.outcomeNumber === was.outcomeNumber;
  switch (kind.case) {
    case 'cancel': {
      // Whoever asks to try again in the same breath has the last word.
      const isReopened = all.some((other) => other.case === 'retry');
      const goesOn = is.state === State.OPEN || is.state === State.PARKED;
      return goesOn && !isReopened && isOpen(was.state) ? `it is ${State[is.state]}` : undefined;
    }
    case 'retry': {
      const mayTry = was.state === State.FAILED || was.state === State.CANCELLED;
      const isMeant = was.outcomeNumber === kind.value.outcomeNumber && !before.control.superseded;
      return mayTry && isMeant && isSame ? `it stays ${State[is.state]}` : undefined;
    }
    case 'release':
      return was.state === State.PARKED && isSame ? 'it stays PARKED' : undefined;
    case 'level': {
      const last = all.findLast((other) => other.case === 'level');
      // One that ended meanwhile, and began again, came by the event while it was at rest.
      const isSameStay = isOpen(was.state) && isOpen(is.state) && was.outcomeNumber === is.outcomeNumber;
      if (last !== kind || !isLevel(kind.value.level) || !isSameStay) return undefined;
      return after.control.level === kind.value.level ? undefined : `its level is ${after.control.level}`;
    }
    default:
      return undefined;
  }
}

function isOpen(state: State): boolean {
  return state === State.OPEN || state === State.PARKED;
}
