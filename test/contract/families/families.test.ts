// Runs that start one another, over the services of an engine on SQLite: what goes up, what goes down, and what is done once only.

import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runId } from '../../../flow/run-id.ts';
import { InboxEventSchema, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Run, RunName } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { bytes, childOf, type FamilyWorld, fieldOf, named, options, startFamilyWorld } from './family-world.ts';

const flows = [
  `
flow: pair
business: test
steps:
  t4: { call: test.work, send: [text] }
  left: { after: [t4], sub_flow: triple, send: [text], receive: [out] }
  right: { after: [t4], sub_flow: slow, send: [text] }
  t5: { after: [left, right], call: test.work, send: [text] }
`,
  `
flow: triple
business: test
steps:
  t1: { call: test.work, send: [text] }
  t2: { after: [t1], call: test.work, send: [text] }
  t3: { after: [t2], call: test.work, send: [text], receive: [out] }
`,
  `
flow: slow
business: test
steps:
  s1: { call: test.work, send: [text] }
  s2: { after: [s1], call: test.work, send: [text], timeout: 60s }
`,
  `{ flow: leaf, business: test, steps: { only: { call: test.work, send: [text], receive: [out] } } }`,
  `
flow: many
business: test
fields: { items: json, parts: json, subs: json }
steps:
  calls: { for_each: items, as: text, call: test.work, receive: [out], into: parts, concurrency: 20 }
  subs: { after: [calls], for_each: items, as: text, sub_flow: leaf, receive: [out], into: subs, concurrency: 10 }
`,
  `{ flow: chain, business: test, steps: { next: { start_flow: leaf, send: [text] } } }`,
  `{ flow: waits, business: test, steps: { go: { wait: { signal: go, receive: [who] } } } }`,
  `{ flow: holds, business: test, steps: { sub: { sub_flow: waits } } }`,
  `{ flow: asks, business: test, steps: { ask: { callback: test.work, send: [text], receive: [out], answer_within: 1h } } }`,
];

let world: FamilyWorld;

beforeAll(async () => {
  world = await startFamilyWorld(flows);
});

afterAll(() => world.close());

const stepOf = (run: Run, id: string) => run.steps.find((step) => step.id === id);

function idOf({ business, flow, key, generation }: RunName) {
  return runId({ business, flow, itemKey: key, generation: Math.max(1, generation) });
}

describe('a step that runs another flow', () => {
  it('gets its fields, and the row key of the first item', async () => {
    await world.submit('pair', 'plain');
    const parent = await world.untilState(named('pair', 'plain'), State.SUCCEEDED);
    expect(fieldOf(parent, 'left', 'out')).toBe('TEXT');
    const { run: child } = await world.client.get({ run: childOf(parent, 'left') }, options);
    expect(child?.parent).toMatchObject({ flow: 'pair', key: bytes('plain'), generation: 1 });
    expect(child?.status?.state).toBe(State.SUCCEEDED);
    expect(world.rowKeys('triple/t3')).toEqual(['plain']);
    const { runs } = await world.client.list({ filter: { parent: named('pair', 'plain') } }, options);
    expect(new Set(runs.map(({ name }) => name?.flow))).toEqual(new Set(['slow', 'triple']));
  });

  it('is shown with what it waits for, and is heard by it', async () => {
    await world.submit('holds', 'shown');
    const parent = await world.until(named('holds', 'shown'), (run) => stepOf(run, 'sub')?.waiting !== undefined);
    expect(parent).toMatchObject({ activity: 'waiting', holder: '' });
    const child = childOf(parent, 'sub');
    expect(stepOf(parent, 'sub')?.waiting?.what).toMatchObject({ case: 'child', value: child });
    const waiting = await world.until(child, (run) => stepOf(run, 'go')?.waiting !== undefined);
    expect(stepOf(waiting, 'go')?.waiting?.what).toMatchObject({ case: 'signal', value: 'go' });
    const fields = [{ key: bytes('who'), value: bytes('ann') }];
    await world.client.signal({ run: child, name: 'go', fields, requestId: 's1' }, options);
    const ended = await world.untilState(child, State.SUCCEEDED);
    expect(fieldOf(ended, 'go', 'who')).toBe('ann');
    await world.untilState(named('holds', 'shown'), State.SUCCEEDED);
  });

  it('takes its child along when it is cancelled', async () => {
    await world.submit('holds', 'cancelled');
    const parent = await world.until(named('holds', 'cancelled'), (run) => stepOf(run, 'sub')?.waiting !== undefined);
    await world.client.cancel({ run: named('holds', 'cancelled'), cause: 'enough' }, options);
    await world.untilState(named('holds', 'cancelled'), State.CANCELLED);
    const child = await world.untilState(childOf(parent, 'sub'), State.CANCELLED);
    expect(child.status?.detail).toBe('the run that waits for it has ended');
  });

  it('hands its level down', async () => {
    await world.submit('holds', 'level');
    const parent = await world.until(named('holds', 'level'), (run) => stepOf(run, 'sub')?.waiting !== undefined);
    const kind = { case: 'level', value: { level: 2 } } as const;
    const event = create(InboxEventSchema, { id: 'test/level', arrivedMs: BigInt(Date.now()), kind });
    await world.engine.dispatch.post(idOf(named('holds', 'level')), event);
    await world.until(childOf(parent, 'sub'), ({ level }) => level === 2);
  });
});

/** A family in which the left child has failed and the right one was stopped with it. */
async function failedPair(key: string): Promise<{ parent: Run; left: RunName; before: (step: string) => number }> {
  const counts = new Map(
    ['pair/t4', 'triple/t1', 'triple/t2', 'triple/t3', 'slow/s1', 'pair/t5'].map((step) => [step, world.calls(step)]),
  );
  const letRight = world.hold('slow/s2');
  world.failing.add('triple/t3');
  await world.submit('pair', key);
  const parent = await world.untilState(named('pair', key), State.FAILED);
  world.failing.delete('triple/t3');
  await world.untilState(childOf(parent, 'right'), State.CANCELLED);
  letRight();
  return { parent, left: childOf(parent, 'left'), before: (step) => world.calls(step) - (counts.get(step) ?? 0) };
}

const onlyTheFailed = { t4: 1, t1: 1, t2: 1, t3: 2, s1: 1, t5: 1 };

function counted(since: (step: string) => number) {
  return {
    ...{ t4: since('pair/t4'), t1: since('triple/t1'), t2: since('triple/t2'), t3: since('triple/t3') },
    ...{ s1: since('slow/s1'), t5: since('pair/t5') },
  };
}

describe('a family in which a child has failed', () => {
  it('goes on when the child is retried, and waits for it', async () => {
    const { left, before } = await failedPair('from-child');
    const letLeft = world.hold('triple/t3');
    await world.client.retry({ run: left }, options);
    const parent = await world.untilState(named('pair', 'from-child'), State.OPEN);
    await world.until(childOf(parent, 'right'), ({ status }) => status?.state === State.SUCCEEDED);
    const waiting = await world.until(named('pair', 'from-child'), (run) => {
      return stepOf(run, 'right')?.cell?.status === StepStatus.DONE;
    });
    expect(stepOf(waiting, 'left')?.cell?.status).toBe(StepStatus.WAITING);
    expect(before('pair/t5')).toBe(0);
    letLeft();
    const ended = await world.untilState(named('pair', 'from-child'), State.SUCCEEDED);
    expect(childOf(ended, 'left')).toEqual(left);
    expect(counted(before)).toEqual(onlyTheFailed);
  });

  it('goes on when the parent is retried', async () => {
    const { left, before } = await failedPair('from-parent');
    await world.client.retry({ run: named('pair', 'from-parent') }, options);
    const ended = await world.untilState(named('pair', 'from-parent'), State.SUCCEEDED);
    expect(childOf(ended, 'left')).toEqual(left);
    expect(fieldOf(ended, 'left', 'out')).toBe('TEXT');
    expect(counted(before)).toEqual(onlyTheFailed);
  });

  it('begins anew from a step that it is rewound to', async () => {
    const { left, before } = await failedPair('rewound');
    await world.client.rewind({ run: named('pair', 'rewound'), step: 't4', requestId: 'r1' }, options);
    const ended = await world.untilState(named('pair', 'rewound'), State.SUCCEEDED);
    expect(childOf(ended, 'left')).not.toEqual(left);
    expect(counted(before)).toEqual({ t4: 2, t1: 2, t2: 2, t3: 2, s1: 2, t5: 1 });
  });

  it('is left alone by a rewind to a step that is not there', async () => {
    const { parent } = await failedPair('no-rewind');
    await expect(world.client.rewind({ run: parent.name!, step: 't3' }, options)).rejects.toThrow(
      'step: flow pair version 1 has no step "t3"',
    );
    await expect(
      world.client.retry({ run: parent.name!, version: { case: 'flowVersion', value: 9 } }, options),
    ).rejects.toThrow('flow_version: flow pair has no version 9');
  });
});

describe('a run that is moved to another version', () => {
  it('goes on with the released one when it is asked to, and what is done stays done', async () => {
    const version = (last: string) => `
flow: moves
business: test
steps:
  a: { call: test.work, send: [text] }
  ${last}: { after: [a], call: test.work, send: [text] }
`;
    await world.release(version('b'));
    world.failing.add('moves/b');
    await world.submit('moves', 'item');
    const failed = await world.untilState(named('moves', 'item'), State.FAILED);
    expect(failed.flowVersion).toBe(1);
    await world.release(version('c'));
    await world.client.retry({ run: failed.name!, version: { case: 'released', value: true } }, options);
    const ended = await world.untilState(named('moves', 'item'), State.SUCCEEDED);
    expect(ended.flowVersion).toBe(2);
    expect(ended.steps.map(({ id }) => id)).toEqual(['a', 'c']);
    expect([world.calls('moves/a'), world.calls('moves/b'), world.calls('moves/c')]).toEqual([1, 1, 1]);
  });
});

describe('a step that starts another flow', () => {
  it('goes on at once, and the other one has a parent', async () => {
    await world.submit('chain', 'first');
    const parent = await world.untilState(named('chain', 'first'), State.SUCCEEDED);
    const child = await world.untilState(childOf(parent, 'next'), State.SUCCEEDED);
    expect(child.parent).toMatchObject({ flow: 'chain' });
    expect(fieldOf(child, 'only', 'out')).toBe('TEXT');
  });
});

describe('a step that asks for a later answer', () => {
  it('takes it by its token, and only while it waits', async () => {
    await world.submit('asks', 'asked');
    const asking = await world.until(named('asks', 'asked'), (run) => stepOf(run, 'ask')?.waiting !== undefined);
    const [token = ''] = world.callKeys('asks/ask');
    expect(stepOf(asking, 'ask')?.waiting).toMatchObject({ what: { case: 'token', value: token } });
    const fields = [{ key: bytes('out'), value: bytes('later') }];
    await world.client.complete({ token, fields, requestId: 'c1' }, options);
    const ended = await world.untilState(named('asks', 'asked'), State.SUCCEEDED);
    expect(fieldOf(ended, 'ask', 'out')).toBe('later');
    await expect(world.client.complete({ token, fields }, options)).rejects.toThrow(
      'is SUCCEEDED, a later answer is for',
    );
    await expect(world.client.complete({ token: 'what' }, options)).rejects.toThrow('token: found "what"');
    const unknown = token.replace('asked', 'nobody');
    await expect(world.client.complete({ token: unknown }, options)).rejects.toThrow(
      'there is no run test/asks/nobody',
    );
  });

  it('refuses a signal that its flow does not wait for', async () => {
    await world.submit('asks', 'deaf');
    const said = world.client.signal({ run: named('asks', 'deaf'), name: 'go' }, options);
    await expect(said).rejects.toThrow('name: flow asks version 1 waits for no signal "go" or any other');
  });
});

describe('a step that does the same for a hundred elements', () => {
  it('joins them in order, also when the engine is restarted in the middle', { timeout: 60_000 }, async () => {
    const items = Array.from({ length: 100 }, (_, index) => `item${index}`);
    await world.submit('many', 'hundred', { items: JSON.stringify(items) });
    await world.until(named('many', 'hundred'), (run) => (stepOf(run, 'subs')?.cell?.branches?.next ?? 0) > 25);
    await world.restart();
    const ended = await world.untilState(named('many', 'hundred'), State.SUCCEEDED);
    // Fields without a type are opaque.
    const results = items.map((item) => ({ out: Buffer.from(item.toUpperCase()).toString('base64') }));
    expect(fieldOf(ended, 'calls', 'parts')).toBe(JSON.stringify(results));
    expect(fieldOf(ended, 'subs', 'subs')).toBe(JSON.stringify(results));
    expect(new Set(world.callKeys('many/calls')).size).toBe(100);
    const { states } = await world.client.summarize({ filter: { parent: named('many', 'hundred') } }, options);
    expect(states).toMatchObject([{ state: State.SUCCEEDED, runs: 100n }]);
  });
});

it('nothing unexpected was logged', () => {
  expect(world.logged).toEqual([]);
});
