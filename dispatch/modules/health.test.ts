import { createServer } from 'node:net';
import type { Channel } from '@grpc/grpc-js';
import { afterEach, describe, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { openChannel } from './channel.ts';
import { freePort } from './free-port.ts';
import { HealthWatch } from './health.ts';
import { ScriptedModule } from './scripted-module.ts';

const closers: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

class Watched {
  readonly clock = new ManualClock();
  readonly channel: Channel;
  health = Health.UNKNOWN;
  #changed: Array<() => void> = [];

  constructor(address: string) {
    this.channel = openChannel(`ipv4:${address}`);
    const watch = new HealthWatch({
      channel: this.channel,
      clock: this.clock,
      random: () => 0.5,
      changed: (health) => {
        this.health = health;
        for (const wake of this.#changed.splice(0)) wake();
      },
    });
    watch.start();
    closers.push(() => {
      watch.close();
      this.channel.close();
    });
  }

  async becomes(health: Health): Promise<void> {
    while (this.health !== health) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }
}

async function start(options = {}): Promise<ScriptedModule> {
  const module = await ScriptedModule.start(options);
  closers.push(() => module.stop());
  return module;
}

describe('HealthWatch', () => {
  it('follows what the endpoint says', async () => {
    const module = await start();
    const watched = new Watched(module.address);
    await watched.becomes(Health.SERVING);
    module.serve(false);
    await watched.becomes(Health.NOT_SERVING);
    module.serve(true);
    await watched.becomes(Health.SERVING);
  });

  it('an endpoint without the health service serves', async () => {
    const watched = new Watched((await start({ health: false })).address);
    await watched.becomes(Health.SERVING);
  });

  it('notices that the endpoint goes and that it comes back, and keeps connecting meanwhile', async () => {
    const module = await start();
    const watched = new Watched(module.address);
    await watched.becomes(Health.SERVING);
    await module.stop();
    await watched.becomes(Health.UNREACHABLE);
    await module.listen();
    await watched.becomes(Health.SERVING);
  });

  it('nobody listens', async () => {
    await new Watched(`127.0.0.1:${await freePort()}`).becomes(Health.UNREACHABLE);
  });

  it('a connect that nobody answers counts as unreachable after a while', async () => {
    // It takes connections, as a system does for a process that hangs, and never speaks.
    const server = createServer((socket) => closers.push(() => socket.destroy()));
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    closers.push(() => server.close());
    const watched = new Watched(`127.0.0.1:${port}`);
    await watched.clock.advance(3_000);
    await watched.becomes(Health.UNREACHABLE);
  });
});
