import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { Ending, InboxEventSchema, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { held, succeeded } from './held-run-fixture.ts';

describe('a held run', () => {
  it('makes the next call only after the change that leads to it is stored', async () => {
    const { begin, clock, calls, stored, parted } = await held();
    begin();
    expect(calls.map(({ call }) => call.step)).toEqual(['first']);
    calls[0]?.done(succeeded);
    expect(calls).toHaveLength(1);
    await clock.advance(0);
    expect(calls.map(({ call }) => call.step)).toEqual(['first', 'second']);
    expect((await stored()).run.steps.get('second')?.status).toBe(StepStatus.RUNNING);
    calls[1]?.done(succeeded);
    await clock.advance(0);
    expect((await stored()).run.control.status.state).toBe(State.SUCCEEDED);
    expect(parted).toEqual(['let go']);
  });

  it('that is handed back takes back calls that wait for a place, and counts no loss', async () => {
    const { tested, begin, clock, calls, stored, parted } = await held();
    begin();
    tested.handBack('when idle');
    await clock.advance(0);
    expect(calls[0]?.aborted).toBe(true);
    const { run, holder, entries } = await stored();
    expect(run.steps.get('first')).toMatchObject({ status: StepStatus.SLEEPING, losses: 0, attempts: 0 });
    expect({ holder, ready: entries.ready }).toEqual({ holder: undefined, ready: true });
    expect(parted).toEqual(['let go']);
  });

  it('that is handed back waits for a call that is out, and makes no other', async () => {
    const { tested, begin, clock, calls, stored, parted } = await held({ onCall: (out) => (out.waiting = false) });
    begin();
    tested.handBack('when idle');
    await clock.advance(0);
    expect(parted).toEqual([]);
    calls[0]?.done(succeeded);
    await clock.advance(0);
    expect(calls).toHaveLength(1);
    const { run } = await stored();
    expect(run.steps.get('first')?.status).toBe(StepStatus.DONE);
    expect(run.steps.get('second')).toMatchObject({ status: StepStatus.SLEEPING, losses: 0 });
    expect(parted).toEqual(['let go']);
  });

  it('that is handed back begins nothing that falls due while a call is out', async () => {
    const text = `
      flow: two
      business: test
      steps:
        long: { call: m, send: [text], timeout: 60s }
        short: { call: m, send: [text], retry: { tries: 5, first: 1s } }
    `;
    const { tested, begin, clock, calls, stored, parted } = await held({
      text,
      onCall: (out) => (out.waiting = false),
    });
    begin();
    const failed = { ending: Ending.FAILED, message: '', fields: new Map() };
    calls.find(({ call }) => call.step === 'short')?.done({ answer: failed, tries: [] });
    await clock.advance(0);
    tested.handBack('when idle');
    await clock.advance(0);
    const before = (await stored()).fence.version;
    await clock.advance(10_000);
    expect({ version: (await stored()).fence.version, calls: calls.length }).toEqual({ version: before, calls: 2 });
    calls.find(({ call }) => call.step === 'long')?.done(succeeded);
    await clock.advance(0);
    expect(parted).toEqual(['let go']);
    expect((await stored()).entries.ready).toBe(true);
  });

  it('that is handed back at once leaves its call to be counted as lost', async () => {
    const { tested, begin, clock, calls, stored } = await held({ onCall: (out) => (out.waiting = false) });
    begin();
    tested.handBack('now');
    await clock.advance(0);
    expect(calls[0]?.aborted).toBe(true);
    const { run, entries } = await stored();
    expect(run.steps.get('first')?.status).toBe(StepStatus.RUNNING);
    expect(entries.ready).toBe(true);
  });

  it('calls elsewhere after a loss', async () => {
    const { begin, clock, calls } = await held();
    begin();
    const lost = { endpoint: '127.0.0.1:1', ending: Ending.LOST, message: '', startedMs: 0, durationUs: 1 };
    calls[0]?.done({ answer: { ending: Ending.LOST, message: '', fields: new Map() }, tries: [lost] });
    await clock.advance(0);
    expect(calls.map(({ call }) => [call.callKey, call.avoid])).toEqual([
      ['1/test/two/%01/first/1', undefined],
      ['1/test/two/%01/first/1', '127.0.0.1:1'],
    ]);
  });

  it('is given up, and nothing else, when a call throws', async () => {
    const { begin, parted, errors } = await held({
      onCall: () => {
        throw new Error('no such module');
      },
    });
    begin();
    expect(parted).toEqual(['abandoned']);
    expect(errors).toEqual(['beginning of test/two/0x01: no such module']);
  });

  it('gives way to a newer claim', async () => {
    const { tested, begin, calls, parted } = await held();
    begin();
    tested.overtakenBy({ epoch: 1, version: 9 });
    expect(parted).toEqual([]);
    tested.overtakenBy({ epoch: 2, version: 9 });
    expect(parted).toEqual(['fenced']);
    expect(calls[0]?.aborted).toBe(true);
  });

  it('consumes an event once, also when an old read shows it again', async () => {
    const { tested, begin, clock, store, stored, parted, run } = await held({ onCall: (out) => (out.waiting = false) });
    begin();
    const event = create(InboxEventSchema, { id: 'e', arrivedMs: 1n, kind: { case: 'level', value: { level: 2 } } });
    await store.post(run, event);
    const before = await store.inbox(run);
    await tested.nudge();
    await clock.advance(0);
    expect((await stored()).fence.version).toBe(2);
    store.inbox = async () => before;
    await tested.nudge();
    await clock.advance(0);
    expect((await stored()).fence.version).toBe(2);
    expect(parted).toEqual([]);
  });

  it('that was overtaken in the store changes nothing', async () => {
    const { begin, clock, store, calls, stored, parted, run } = await held();
    begin();
    const holder = { processId: 'other', incarnation: 'o', claimedMs: 0 };
    const changes = { steps: new Map(), fields: new Map(), executions: [], consumed: [], alarms: [] };
    const entries = { ready: false, leaseMs: 1 };
    await store.claim({ run, writeId: 'other', expected: { epoch: 1, version: 1 }, holder, changes, entries });
    calls[0]?.done(succeeded);
    await clock.advance(0);
    expect(parted).toEqual(['fenced']);
    expect((await stored()).run.steps.get('first')?.status).toBe(StepStatus.RUNNING);
  });

  it('is woken for what is due by now, also when its alarm was set by a clock that was wrong', async () => {
    const text = `
      flow: two
      business: test
      steps:
        call: { call: m, receive: [] }
        pause: { wait: { for: 1s } }
    `;
    const { begin, clock, calls, stored } = await held({ text });
    begin();
    const nowMs = clock.nowMs.bind(clock);
    clock.nowMs = () => nowMs() - 3_600_000;
    await clock.advance(1_000);
    clock.nowMs = nowMs;
    calls[0]?.done(succeeded);
    await clock.advance(0);
    expect((await stored()).run.control.status.state).toBe(State.SUCCEEDED);
  });

  it('ends by itself when its deadline passes', async () => {
    const { begin, clock, calls, stored } = await held();
    begin();
    await clock.advance(600_000);
    expect((await stored()).run.control.status).toMatchObject({ state: State.FAILED });
    expect(calls[0]?.aborted).toBe(true);
  });
});
