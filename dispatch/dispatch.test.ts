import { describe, expect, it } from 'vitest';
import { compileFlow } from '../flow/compile.ts';
import { parseFlow } from '../flow/definition/definition.ts';
import { ManualClock } from '../platform/clock/manual-clock.ts';
import { InProcessMembership } from '../platform/coordination/in-process-membership.ts';
import { InProcessRunLocks } from '../platform/coordination/in-process-run-locks.ts';
import { channelPair } from '../platform/rpc/channel.ts';
import type { FromDispatch, FromSpout } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { Dispatch } from './dispatch.ts';
import type { DispatchPorts } from './driver/ports.ts';

const flowText = `
flow: one
business: test
deadline: 10m
steps: { only: { call: m, send: [text] } }
`;

/** Membership whose connection the test cuts. */
class CuttableMembership extends InProcessMembership {
  #listener: () => void = () => {};
  #isSafe = true;

  override watch(listener: () => void): () => void {
    this.#listener = listener;
    return super.watch(listener);
  }

  override isSafe(): boolean {
    return this.#isSafe;
  }

  setSafe(isSafe: boolean): void {
    this.#isSafe = isSafe;
    this.#listener();
  }
}

async function setUp() {
  const clock = new ManualClock();
  const store = new MemoryStore(1);
  const membership = new CuttableMembership(clock);
  const parsed = parseFlow(flowText);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  const plan = compileFlow(parsed.flow, 1);
  let ids = 0;
  let calls = 0;
  const ports = {
    ...{ clock, store, membership, random: () => 0.5, ids: { next: () => `id-${++ids}` } },
    locks: new InProcessRunLocks(clock),
    plans: { released: async () => plan, pinned: async () => plan },
    modules: {
      call: () => {
        calls++;
        return { abort: () => {}, withdraw: () => true };
      },
    },
    onError: (error: unknown, doing: string) => {
      throw new Error(doing, { cause: error });
    },
  } as unknown as DispatchPorts;
  const self = { role: 'dispatch', processId: 'p', incarnation: 'i', address: '', unit: '', capacity: 4 } as const;
  const dispatch = new Dispatch(self, ports, { maxRuns: 4 });
  await dispatch.start();
  const [mine, theirs] = channelPair<FromDispatch, FromSpout>((action) => clock.soon(action));
  const credits: number[] = [];
  theirs.listen(({ message }) => {
    if (message.case === 'credits') credits.push(message.value.runs);
  });
  dispatch.connect(mine);
  await clock.advance(0);
  const fields = new Map([['text', { bytes: new Uint8Array(1) }]]);
  const submit = (key: string) =>
    dispatch.submit({ business: 'test', flow: 'one', key: new TextEncoder().encode(key), level: 5, fields });
  return { clock, store, membership, dispatch, credits, submit, calls: () => calls };
}

describe('Dispatch', () => {
  it('begins nothing while the others may be taking over, stores what is submitted, and goes on with what it holds', async () => {
    const { clock, store, membership, dispatch, credits, submit, calls } = await setUp();
    await submit('before');
    await clock.advance(10);
    expect([dispatch.held, calls()]).toEqual([1, 1]);
    membership.setSafe(false);
    await clock.advance(0);
    expect(credits.at(-1)).toBe(0);
    expect(await submit('meanwhile')).toMatchObject({ kind: 'accepted', created: true });
    await clock.advance(10);
    expect([dispatch.held, calls()]).toEqual([1, 1]);
    const { hits } = await store.scan({ shard: 0, kind: 'ready', limit: 10 });
    expect(hits).toHaveLength(1);
    membership.setSafe(true);
    await clock.advance(0);
    expect(credits.at(-1)).toBe(3);
  });
});
