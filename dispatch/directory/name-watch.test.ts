import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { AllowedAddresses } from '../modules/allowed-addresses.ts';
import type { NameAnswer } from './name-resolver.ts';
import { NameWatch } from './name-watch.ts';

class World {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  readonly warned: string[] = [];
  answer: NameAnswer = resolved(['10.0.0.1']);
  changes = 0;
  readonly watch = new NameWatch({
    name: { host: 'm.internal', port: 80 },
    clock: this.clock,
    random: () => 0,
    allowed: new AllowedAddresses(),
    resolver: {
      resolve: async (host) => {
        this.asked.push(`${host}@${this.clock.monotonicMs()}`);
        return this.answer;
      },
    },
    changed: () => this.changes++,
    warn: (message) => this.warned.push(message),
  });

  get addresses(): string[] {
    return this.watch.addresses.map(({ text }) => text);
  }
}

function resolved(ips: string[], ttlMs = 10_000): NameAnswer {
  return { kind: 'resolved', ips, ttlMs };
}

describe('the addresses of a name', () => {
  it('are looked up again when the server vouches for them no longer, within bounds', async () => {
    const world = new World();
    world.watch.start();
    await world.clock.advance(0);
    world.answer = resolved(['10.0.0.1'], 0);
    await world.clock.advance(10_000);
    world.answer = resolved(['10.0.0.1'], 3_600_000);
    await world.clock.advance(41_000);
    expect(world.asked).toEqual([0, 10_000, 11_000, 41_000].map((time) => `m.internal@${time}`));
    expect(world.changes).toBe(1);
  });

  it('are followed, with their port, in one order', async () => {
    const world = new World();
    world.watch.start();
    await world.clock.advance(0);
    world.answer = resolved(['fd00::7', '10.0.0.2', '10.0.0.1']);
    await world.clock.advance(10_000);
    expect(world.addresses).toEqual(['10.0.0.1:80', '10.0.0.2:80', '[fd00::7]:80']);
    world.answer = resolved(['10.0.0.2', 'fd00::7', '10.0.0.1']);
    await world.clock.advance(10_000);
    expect(world.changes).toBe(2);
  });

  it('stand while nobody knows better, and a person is told once', async () => {
    const world = new World();
    world.watch.start();
    await world.clock.advance(0);
    world.answer = { kind: 'failed', cause: new Error('queryA ESERVFAIL') };
    await world.clock.advance(10_000 + 1_000 + 2_000 + 4_000 + 8_000 + 16_000 + 30_000 + 30_000);
    expect(world.asked.length).toBe(9);
    expect(world.addresses).toEqual(['10.0.0.1:80']);
    expect(world.warned).toEqual([
      'm.internal could not be looked up (queryA ESERVFAIL); the last known addresses stand',
    ]);
    world.answer = resolved(['10.0.0.2']);
    await world.clock.advance(30_000);
    expect(world.addresses).toEqual(['10.0.0.2:80']);
    world.answer = { kind: 'failed', cause: new Error('queryA ESERVFAIL') };
    await world.clock.advance(10_000);
    expect(world.warned.length).toBe(2);
  });

  it('are gone when the server has said so three times in a row', async () => {
    const world = new World();
    world.watch.start();
    await world.clock.advance(0);
    world.answer = { kind: 'none' };
    await world.clock.advance(11_000);
    expect(world.addresses).toEqual(['10.0.0.1:80']);
    await world.clock.advance(2_000);
    expect(world.addresses).toEqual([]);
    expect(world.warned).toEqual(['m.internal has no addresses, says the DNS']);
  });

  it('are only those that are allowed', async () => {
    const world = new World();
    world.answer = resolved(['169.254.169.254', '10.0.0.1', '8.8.8.8', '::ffff:10.0.0.1']);
    world.watch.start();
    await world.clock.advance(10_000);
    expect(world.addresses).toEqual(['10.0.0.1:80']);
    expect(world.warned).toEqual(['m.internal: 169.254.169.254:80 is link-local, which is never called, and 2 more']);
  });

  it('are bounded', async () => {
    const world = new World();
    world.answer = resolved(Array.from({ length: 300 }, (_, index) => `10.0.${index % 2}.${index % 250}`));
    world.watch.start();
    await world.clock.advance(0);
    expect(world.addresses.length).toBe(250);
    world.answer = resolved(
      Array.from({ length: 400 }, (_, index) => `10.0.${Math.floor(index / 200)}.${index % 200}`),
    );
    await world.clock.advance(10_000);
    expect(world.addresses.length).toBe(256);
  });

  it('are followed no more after the stop', async () => {
    const world = new World();
    world.watch.start();
    world.watch.stop();
    await world.clock.advance(100_000);
    expect([world.asked.length, world.changes]).toEqual([1, 0]);
  });
});
