import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../flow/run.ts';
import { InboxEventSchema, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { MemoryStore } from '../../store/memory/memory-store.ts';
import { held, succeeded } from './held-run-fixture.ts';

const withChild = `
flow: parent
business: test
deadline: 10m
steps:
  sub: { sub_flow: child, send: [text], receive: [upper] }
  second: { after: [sub], call: m, send: [text] }
`;

const besides = `
flow: parent
business: test
deadline: 10m
steps:
  sub: { sub_flow: child, send: [text] }
  call: { call: m, send: [text] }
`;

const withExit = `
flow: parent
business: test
deadline: 10m
steps: { only: { call: m, retry: { tries: 1 } } }
on_exit: [{ when: [CANCELLED], call: audit }]
`;

const child = '1/test/child/key' as RunId;
const parent = { run: '1/test/parent/p' as RunId, step: 's', round: 1, waits: true, receive: [], chain: 1 };

type Kind = Parameters<typeof create<typeof InboxEventSchema>>[1];

function event(id: string, kind: NonNullable<Kind>['kind']) {
  return create(InboxEventSchema, { id, arrivedMs: 1n, ...(kind && { kind }) });
}

describe('a held run that starts another', () => {
  it('does so only once the step is stored, and is let go when the other goes on', async () => {
    const { begin, clock, starts, stored, parted } = await held({ text: withChild, rowKey: Uint8Array.of(7) });
    expect(starts).toEqual([]);
    begin();
    expect(starts.map(({ effect }) => effect)).toMatchObject([{ step: 'sub', round: 1, rowKey: Uint8Array.of(7) }]);
    starts[0]?.done({ kind: 'open', child });
    await clock.advance(0);
    expect(parted).toEqual(['let go']);
    const { run, entries } = await stored();
    expect(run.steps.get('sub')).toMatchObject({ status: StepStatus.WAITING, child });
    expect(entries).toEqual({ ready: false, timerMs: clock.nowMs() + 60_000 });
  });

  it('goes on at once when the other has ended, and calls with the row key of the first item', async () => {
    const { begin, clock, starts, calls } = await held({ text: withChild, rowKey: Uint8Array.of(7) });
    begin();
    const end = { outcome: State.SUCCEEDED, outcomeNumber: 1, reason: 0, detail: '', fields: new Map() };
    starts[0]?.done({ kind: 'ended', child, end });
    await clock.advance(0);
    expect(calls.map(({ call }) => [call.step, call.rowkey])).toEqual([['second', Uint8Array.of(7)]]);
  });

  it('is handed back at once: the next holder starts it again', async () => {
    const { tested, begin, clock, starts, stored, parted } = await held({ text: withChild });
    begin();
    tested.handBack('when idle');
    await clock.advance(0);
    expect(parted).toEqual(['let go']);
    expect(starts[0]?.givenUp).toBe(true);
    const { run, entries } = await stored();
    expect(run.steps.get('sub')).toMatchObject({ status: StepStatus.RUNNING, losses: 0 });
    expect(entries.ready).toBe(true);
  });

  it('stops starting it when it ends itself, and tells it', async () => {
    const { tested, begin, clock, starts, tells } = await held({ text: withChild });
    begin();
    tested.handle({ kind: 'inbox', event: event('c', { case: 'cancel', value: {} }) });
    await clock.advance(0);
    expect(starts[0]?.givenUp).toBe(true);
    expect(tells.map(({ effect }) => [effect.step, effect.event.kind.case])).toEqual([['tell/cancel/sub', 'cancel']]);
  });
});

describe('a held run that tells another', () => {
  it('ends only when that is done', async () => {
    const { begin, clock, calls, tells, stored, parted } = await held({ parent });
    begin();
    for (const index of [0, 1]) {
      calls[index]?.done(succeeded);
      await clock.advance(0);
    }
    expect(tells.map(({ effect }) => [effect.to, effect.event.kind.case])).toEqual([[parent.run, 'childEnded']]);
    expect((await stored()).run.control.status).toMatchObject({ state: State.ENDING, outcome: State.SUCCEEDED });
    tells[0]?.done();
    await clock.advance(0);
    expect((await stored()).run.control.status.state).toBe(State.SUCCEEDED);
    expect(parted).toEqual(['let go']);
  });

  it('tells what is new once the old is told', async () => {
    const { tested, begin, clock, starts, tells, stored } = await held({ text: besides });
    begin();
    starts[0]?.done({ kind: 'open', child });
    tested.handle({ kind: 'inbox', event: event('first', { case: 'level', value: { level: 2 } }) });
    await clock.advance(0);
    // The write of the second level is under way when the first one is told.
    tested.handle({ kind: 'inbox', event: event('second', { case: 'level', value: { level: 1 } }) });
    tells[0]?.done();
    await clock.advance(0);
    expect(tells.map(({ effect }) => effect.event.kind.value)).toMatchObject([{ level: 2 }, { level: 1 }]);
    expect((await stored()).run.steps.has('tell/level/sub')).toBe(true);
    tells[1]?.done();
    await clock.advance(0);
    expect((await stored()).run.steps.has('tell/level/sub')).toBe(false);
  });
});

/** Commits wait from now on; the answer lets them go on. */
function holdCommits(store: MemoryStore): () => void {
  const gate = Promise.withResolvers<void>();
  const commit = store.commit.bind(store);
  store.commit = async (write) => {
    await gate.promise;
    return commit(write);
  };
  return gate.resolve;
}

describe('a held run whose events come too early', () => {
  it('leaves a retry of the outcome that it is ending with, and hears it again when it is nudged', async () => {
    const { tested, begin, clock, store, calls, run, stored, parted } = await held({ text: withExit });
    begin();
    tested.handle({ kind: 'inbox', event: event('c', { case: 'cancel', value: {} }) });
    await clock.advance(0);
    await store.post(run, event('r', { case: 'retry', value: { outcomeNumber: 1 } }));
    await tested.nudge();
    await clock.advance(0);
    expect((await stored()).inbox.map(({ id }) => id)).toEqual(['r']);
    const goOn = holdCommits(store);
    tested.handle({ kind: 'inbox', event: event('l', { case: 'level', value: { level: 1 } }) });
    // Both in the next turn: the ending is over, and then the retry reopens the run.
    calls[1]?.done(succeeded);
    await tested.nudge();
    goOn();
    await clock.advance(0);
    expect((await stored()).run.control.status).toMatchObject({ state: State.OPEN, outcomeNumber: 1 });
    expect((await stored()).inbox).toEqual([]);
    expect(parted).toEqual([]);
  });
});

describe('a run that is moved to another version', () => {
  it('is let go by the same write, for a holder with the right plan; what comes after waits for it', async () => {
    const { tested, begin, clock, store, calls, run, stored, parted } = await held();
    begin();
    const goOn = holdCommits(store);
    calls[0]?.done(succeeded);
    const events = [
      event('c', { case: 'cancel', value: {} }),
      event('r', { case: 'retry', value: { outcomeNumber: 1, flowVersion: 2 } }),
      event('s', { case: 'signal', value: { name: 'later' } }),
    ];
    for (const each of events) await store.post(run, each);
    await tested.nudge();
    goOn();
    await clock.advance(0);
    expect(parted).toEqual(['let go']);
    const { run: after, entries, inbox, holder } = await stored();
    expect(after.control).toMatchObject({ flowVersion: 2, status: { state: State.OPEN, outcomeNumber: 1 } });
    expect({ entries, holder }).toEqual({
      entries: { ready: true, timerMs: after.control.deadlineMs },
      holder: undefined,
    });
    expect(inbox.map(({ id }) => id)).toEqual(['s']);
  });
});
