// Faults of whoever drives runs: dispatch.

import type { Mutant } from './mutant.ts';

const certainWrite = 'dispatch/driver/certain-write.ts';
const heldRun = 'dispatch/driver/held-run.ts';
const holding = 'dispatch/driver/holding.ts';
const submission = 'dispatch/driver/submission.ts';
const creation = 'dispatch/driver/run-creation.ts';

export const driverMutants: readonly Mutant[] = [
  {
    name: 'an unknown write is taken for done',
    file: certainWrite,
    line: "if (first.kind === 'done') return 'done';",
    instead: "if (first.kind !== 'fenced') return 'done';",
    caughtBy: 'no effect before its change',
  },
  {
    name: 'an unknown write is taken for fenced',
    file: certainWrite,
    line: "if (first.kind === 'fenced') return 'fenced';",
    instead: "return 'fenced';",
    caughtBy: 'doubts are resolved',
  },
  {
    name: 'a refusal of what was sent again is not read back',
    file: certainWrite,
    line: "if (again.kind === 'done') return 'done';",
    instead: "if (again.kind !== 'unknown') return again.kind;",
    caughtBy: 'doubts are resolved',
  },
  {
    name: 'a fence that moved is taken for our own write',
    file: certainWrite,
    line: "if (!write.isOpen(head)) return 'fenced';",
    instead: "if (!write.isOpen(head)) return 'done';",
    caughtBy: 'no effect before its change',
  },
  {
    name: 'a commit is sent again with a new id',
    file: heldRun,
    line: '() => store.commit(write)',
    instead: '() => store.commit({ ...write, writeId: this.#keeper.ports.ids.next() })',
    caughtBy: 'doubts are resolved',
  },
  {
    name: 'effects come before the commit',
    file: heldRun,
    line: 'void this.#commit(write, effects)',
    instead: 'this.#perform(effects); void this.#commit(write, [])',
    caughtBy: 'no effect before its change',
  },
  {
    name: 'a fenced holder goes on',
    file: heldRun,
    line: "if (certain !== 'done') return this.#close(certain);",
    instead: "if (certain === 'abandoned') return this.#close(certain);",
    caughtBy: 'no effect before its change',
  },
  {
    name: 'a fenced run keeps its place',
    file: heldRun,
    line: 'this.#keeper.parted(this, why);',
    instead: "if (why !== 'fenced') this.#keeper.parted(this, why);",
    caughtBy: 'everything ends',
  },
  {
    name: 'calls that are out count as taken back',
    file: heldRun,
    line: 'if (!pending.withdraw()) continue;',
    instead: 'pending.withdraw();',
    caughtBy: 'withdrawn means unheard',
  },
  {
    name: 'events that were seen are not remembered',
    file: heldRun,
    line: 'if (this.#closed || this.#seen.has(event.id)) continue;',
    instead: 'if (this.#closed) continue;',
    caughtBy: 'inbox consumed once',
  },
  {
    name: 'an inbox is read once, whatever is consumed meanwhile',
    file: heldRun,
    line: 'if (view && view.fence.version >= this.#consumedVersion) return view.events;',
    instead: 'if (view) return view.events;',
    caughtBy: 'inbox consumed once',
  },
  {
    name: 'an alarm clock that is set is not set again',
    file: heldRun,
    line: 'if (this.#wake?.atMs === atMs && atMs > nowMs) return;',
    instead: 'if (this.#wake) return;',
    caughtBy: 'everything ends',
  },
  {
    name: 'a call that is not wanted any more goes out',
    file: heldRun,
    line: 'return step?.status === StepStatus.RUNNING && step.round === effect.round && !this.#calls.has(effect.step);',
    instead: 'return step !== undefined && !this.#calls.has(effect.step);',
    caughtBy: 'no effect before its change',
  },
  {
    name: 'a holder that is leaving calls on',
    file: holding,
    line: "if (this.#draining !== 'no') held.handBack(this.#draining);",
    instead: '',
    caughtBy: 'leaving takes nothing',
  },
  {
    name: 'places are not given back',
    file: 'dispatch/driver/room.ts',
    line: 'this.#runs--;',
    instead: '',
    caughtBy: 'everything ends',
  },
  {
    name: 'places are rounded down',
    file: 'dispatch/driver/spout-links.ts',
    line: 'runs: Math.ceil(runs / spouts)',
    instead: 'runs: Math.floor(runs / spouts)',
    caughtBy: 'everything ends',
  },
  {
    name: 'whether a generation may begin is decided by what is read',
    file: submission,
    line: 'const former = runId({ business, flow, itemKey, generation: expected });',
    instead:
      'const former = runId({ business, flow, itemKey, generation: expected }); if ((await store.newest(identity(business, flow, itemKey))) !== former) return this.#unexpected(item, expected);',
    caughtBy: 'newest makes way',
  },
  {
    name: 'a holder says that it holds what it lost',
    file: 'dispatch/driver/spout-links.ts',
    line: 'const holds = held !== undefined && held.fence.epoch >= fenceOf(fence).epoch;',
    instead: 'const holds = run !== undefined;',
    caughtBy: 'everything ends',
  },
  {
    name: 'a holder says that it holds nothing',
    file: 'dispatch/driver/spout-links.ts',
    line: 'const holds = held !== undefined && held.fence.epoch >= fenceOf(fence).epoch;',
    instead: 'const holds = held === undefined;',
    caughtBy: 'nobody is robbed',
  },
  {
    name: 'a run follows the released version',
    file: 'dispatch/driver/claim.ts',
    line: 'const plan = await plans.pinned(flow, flowVersion);',
    instead: 'const plan = await plans.released(flow);',
    caughtBy: 'legal path',
  },
  {
    name: 'a claim does not look into the inbox',
    file: 'dispatch/driver/claim.ts',
    line: '...inInboxOrder(stored.inbox).map(',
    instead: '...inInboxOrder([]).map(',
    caughtBy: 'everything ends',
  },
  {
    name: 'an item that nobody stored is acknowledged',
    file: creation,
    line: "return { kind: certain === 'fenced' ? refusal : 'unavailable', run };",
    instead: "return { kind: 'done', run };",
    caughtBy: 'nothing lost',
  },
  {
    name: 'a run is created where nothing finds it',
    file: creation,
    line: 'entries: { ready: true, timerMs: run.control.deadlineMs }',
    instead: 'entries: { ready: false, timerMs: run.control.deadlineMs }',
    caughtBy: 'found again',
  },
  {
    name: 'an item with other fields passes for the same',
    file: submission,
    line: 'if (sameBytes(head.control.creationHash, creationHash))',
    instead: 'if (creationHash.length > 0)',
    caughtBy: 'submissions are kept',
  },
];
