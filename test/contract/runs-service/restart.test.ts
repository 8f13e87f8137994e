import { afterEach, describe, expect, it } from 'vitest';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { item, options, startWorld, untilState, type World } from './world.ts';

let world: World;

afterEach(() => world.close());

describe('an engine that is stopped', () => {
  it('waits for calls that are out, and takes in nothing meanwhile', async () => {
    world = await startWorld();
    const gate = Promise.withResolvers<void>();
    world.behaviour.gate = gate.promise;
    await world.client.submit({ items: [item('gated', 'waiting')] }, options);
    const { engine } = world;
    const stopped = engine.dispatch.stop();
    const { results } = await world.client.submit({ items: [item('gated', 'late')] }, options);
    expect(results[0]?.result).toMatchObject({
      case: 'refused',
      value: { message: 'this dispatch is stopping; send the item to another' },
    });
    gate.resolve();
    await stopped;
    await untilState(world, 'gated', 'waiting', State.SUCCEEDED);
  });

  it('is continued by the next one on the same folder', async () => {
    world = await startWorld({ drainMs: 0 });
    const gate = Promise.withResolvers<void>();
    world.behaviour.gate = gate.promise;
    const items = Array.from({ length: 50 }, (_, index) => item('gated', `open-${index}`));
    await world.client.submit({ items }, options);
    await world.restart();
    gate.resolve();
    for (const [index] of items.entries()) {
      const { epoch, steps } = await untilState(world, 'gated', `open-${index}`, State.SUCCEEDED);
      expect(epoch).toBe(2n);
      expect(steps).toMatchObject([{ id: 'wait', cell: { round: 1, losses: 1 } }]);
    }
    expect(world.logged).toEqual([]);
  });
});
