// The two ends of the feed, spout and dispatch, on a line that takes time.

import { describe, expect, it } from 'vitest';
import type { OfferedRun } from '../../dispatch/driver/holding.ts';
import { Room } from '../../dispatch/driver/room.ts';
import { type OfferedTo, SpoutLinks } from '../../dispatch/driver/spout-links.ts';
import type { RunId } from '../../flow/run.ts';
import { channelPair } from '../../platform/rpc/channel.ts';
import { type FromDispatch, type FromSpout } from '../../proto/gen/weir/feed/v1/feed_pb.js';
import { run, SpoutWorld } from '../../spout/spout-fixture.ts';

const latencyMs = 3;

/** Claims what it is offered, works on each run for a while, and notes the order in which they came. */
class Working implements OfferedTo {
  readonly room: Room;
  readonly came: string[] = [];
  declined = 0;
  readonly #world: SpoutWorld;
  readonly #names: ReadonlyMap<RunId, string>;

  constructor(world: SpoutWorld, maxRuns: number, names: readonly string[]) {
    this.#world = world;
    this.room = new Room(world.clock, { maxRuns, maxBytes: 1_000_000 });
    this.#names = new Map(names.map((name) => [run(name), name]));
  }

  offer({ run, bytes, settled }: OfferedRun): 'queued' | 'no room' {
    const name = this.#names.get(run) ?? '';
    if (!this.room.take(bytes)) {
      this.declined++;
      return 'no room';
    }
    this.came.push(name);
    void this.#world.commit(name, { ready: false }).then(() => settled('taken'));
    // Runs end one by one, so that credits are told all the time.
    this.#world.clock.after(5 + (this.came.length % 7), () => this.room.give(bytes));
    return 'queued';
  }

  get(): undefined {
    return undefined;
  }
}

describe('the feed', () => {
  it('promises no place twice to the only spout: nothing is declined, and the order is kept', async () => {
    const world = new SpoutWorld(4);
    const names = Array.from({ length: 3_000 }, (_, index) => `run-${index}`);
    for (const [index, name] of names.entries()) await world.create(name, { order: index + 1 });
    const spout = world.spout();
    await spout.start();
    const working = new Working(world, 64, names);
    const links = new SpoutLinks(working, world.clock, (error) => world.errors.push(String(error)));
    const [ofSpout, ofDispatch] = channelPair<FromSpout, FromDispatch>((action) => {
      world.clock.after(latencyMs, action);
    });
    links.accept(ofDispatch);
    spout.connect({ processId: 'dispatch-1', incarnation: 'first' }, ofSpout);
    await world.clock.advance(1_000);
    expect(working.declined).toBe(0);
    expect(working.came).toEqual(names);
    expect(world.errors).toEqual([]);
    await spout.stop();
  });
});
