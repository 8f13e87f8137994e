import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../flow/run.ts';
import { latin1Bytes } from '../../flow/run-id.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { type Channel, channelPair } from '../../platform/rpc/channel.ts';
import {
  type FromDispatch,
  type FromSpout,
  FromSpoutSchema,
  OfferVerdict,
} from '../../proto/gen/weir/feed/v1/feed_pb.js';
import type { Fence } from '../../store/port.ts';
import { itemLimits } from '../item-limits.ts';
import type { OfferedRun, Settled } from './holding.ts';
import { Room } from './room.ts';
import { type OfferedTo, SpoutLinks } from './spout-links.ts';

/** Takes what it has room for, and does nothing with it. */
class Offered implements OfferedTo {
  readonly room: Room;
  readonly queued = new Map<RunId, OfferedRun>();
  readonly held = new Map<RunId, { readonly fence: Fence; nudge(): Promise<void> }>();

  constructor(room: Room) {
    this.room = room;
  }

  offer(offer: OfferedRun): 'queued' | 'known' | 'no room' {
    if (this.queued.has(offer.run)) return 'known';
    if (!this.room.take(offer.bytes)) return 'no room';
    this.queued.set(offer.run, offer);
    return 'queued';
  }

  get(run: RunId) {
    return this.held.get(run);
  }

  settle(run: string, how: Settled): void {
    const offer = this.queued.get(run as RunId);
    this.queued.delete(run as RunId);
    this.room.give(offer?.bytes ?? 0);
    offer?.settled(how);
  }
}

class FakeSpout {
  readonly #channel: Channel<FromSpout, FromDispatch>;
  readonly received: FromDispatch['message'][] = [];

  constructor(channel: Channel<FromSpout, FromDispatch>) {
    this.#channel = channel;
    channel.listen(({ message }) => this.received.push(message));
  }

  send(message: NonNullable<MessageInitShape<typeof FromSpoutSchema>['message']>): void {
    this.#channel.send(create(FromSpoutSchema, { message }));
  }

  offer(id: string, number: number, bytes = 10): void {
    const run = { shard: 0, id: latin1Bytes(id) };
    this.send({ case: 'offer', value: { run, level: 5, bytes: BigInt(bytes), number: BigInt(number) } });
  }

  ask(questionId: number, id: string, epoch: number): void {
    const run = { shard: 0, id: latin1Bytes(id) };
    const fence = { epoch: BigInt(epoch), version: 1n };
    this.send({ case: 'holdQuestion', value: { questionId: BigInt(questionId), run, fence } });
  }

  close(): void {
    this.#channel.close();
  }

  /** The last ones, as [runs, bytes, heard]. */
  get credits(): readonly number[] {
    const told = this.received.findLast((message) => message.case === 'credits')?.value;
    return told?.$typeName === 'weir.feed.v1.Credits' ? [told.runs, Number(told.bytes), Number(told.heard)] : [];
  }

  get verdicts(): OfferVerdict[] {
    return this.received.flatMap((message) => (message.case === 'offerAnswer' ? [message.value.verdict] : []));
  }

  get answers(): Array<readonly [number, boolean]> {
    return this.received.flatMap((message) =>
      message.case === 'holdAnswer' ? [[Number(message.value.questionId), message.value.holds] as const] : [],
    );
  }
}

function world({ maxRuns = 8, maxBytes = 100_000_000 } = {}) {
  const clock = new ManualClock();
  const holding = new Offered(new Room(clock, { maxRuns, maxBytes }));
  const errors: unknown[] = [];
  const links = new SpoutLinks(holding, clock, (error) => errors.push(error));
  const spout = () => {
    const [theirs, ours] = channelPair<FromSpout, FromDispatch>((action) => clock.soon(action));
    links.accept(ours);
    return new FakeSpout(theirs);
  };
  return { clock, holding, errors, links, spout };
}

describe('links to spouts', () => {
  it('share the room, and tell each spout the last of its own offers that is counted in', async () => {
    const { clock, holding, spout } = world({ maxRuns: 8, maxBytes: 1_000 });
    const [one, two] = [spout(), spout()];
    one.offer('a', 1);
    one.offer('b', 2);
    two.offer('c', 1);
    await clock.advance(0);
    expect(holding.queued.size).toBe(3);
    holding.settle('a', 'gone');
    await clock.advance(0);
    expect(one.credits).toEqual([3, 490, 2]);
    expect(two.credits).toEqual([3, 490, 1]);
    expect(one.verdicts).toEqual([OfferVerdict.GONE]);
  });

  it('tell anew what is free when an offer used no room', async () => {
    const { clock, spout } = world({ maxRuns: 1 });
    const one = spout();
    one.offer('a', 1);
    one.offer('a', 2);
    await clock.advance(0);
    expect(one.verdicts).toEqual([OfferVerdict.KNOWN]);
    expect(one.credits).toEqual([0, 99_999_990, 2]);
    one.offer('b', 3);
    await clock.advance(0);
    expect(one.verdicts).toEqual([OfferVerdict.KNOWN, OfferVerdict.DECLINED]);
    expect(one.credits).toEqual([0, 99_999_990, 3]);
  });

  it('say for how long another has the lock of a run', async () => {
    const { clock, holding, spout } = world();
    const one = spout();
    one.offer('a', 1);
    await clock.advance(0);
    holding.settle('a', { busyForMs: 1_234.5 });
    await clock.advance(0);
    const answer = one.received.find((message) => message.case === 'offerAnswer')?.value;
    expect(answer).toMatchObject({ verdict: OfferVerdict.BUSY, busyForMs: 1_235 });
  });

  it('let any spout offer the largest item while nothing is taken, whatever its share of the bytes', async () => {
    const { clock, holding, spout } = world({ maxBytes: 3_000 });
    const [one, two] = [spout(), spout()];
    await clock.advance(0);
    expect([one.credits[1], two.credits[1]]).toEqual([itemLimits.maxItemBytes, itemLimits.maxItemBytes]);
    one.offer('large', 1, itemLimits.maxItemBytes);
    two.offer('small', 1, 1);
    await clock.advance(0);
    expect([one.verdicts, two.verdicts]).toEqual([[], [OfferVerdict.DECLINED]]);
    expect(two.credits[1]).toBe(0);
    holding.settle('large', 'taken');
    await clock.advance(0);
    expect(two.credits[1]).toBe(itemLimits.maxItemBytes);
  });

  it('answer that a run is held only at the fence that was asked about, or a later one', async () => {
    const { clock, holding, spout } = world();
    holding.held.set('a' as RunId, { fence: { epoch: 3, version: 7 }, nudge: async () => {} });
    const one = spout();
    one.ask(1, 'a', 3);
    one.ask(2, 'a', 2);
    one.ask(3, 'a', 4);
    one.ask(4, 'b', 0);
    await clock.advance(0);
    expect(one.answers).toEqual([
      [1, true],
      [2, true],
      [3, false],
      [4, false],
    ]);
  });

  it('let go on who waited behind the backlog of a spout that is gone', async () => {
    const { clock, holding, links, spout } = world();
    const one = spout();
    one.send({ case: 'backlog', value: { levels: 0b1 } });
    await clock.advance(0);
    let woken = false;
    const mayTake = () => !links.waitsAtOrBefore(5);
    void holding.room.whenRoomFor(1, mayTake, 60_000).then(() => (woken = true));
    await clock.advance(10);
    expect(woken).toBe(false);
    one.close();
    await clock.advance(10);
    expect(woken).toBe(true);
  });

  it('say that a nudge failed', async () => {
    const { clock, errors, holding, spout } = world();
    const failure = new Error('the disk is away');
    holding.held.set('a' as RunId, { fence: { epoch: 1, version: 1 }, nudge: () => Promise.reject(failure) });
    spout().send({ case: 'nudge', value: { run: { shard: 0, id: latin1Bytes('a') } } });
    await clock.advance(0);
    expect(errors).toEqual([failure]);
  });
});
