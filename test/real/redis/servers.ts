// Redis servers of these tests: own ports, and a folder that goes with the test.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { systemClock } from '../../../platform/clock/system-clock.ts';
import type { RedisPorts } from '../../../platform/coordination/redis/connection.ts';
import { createLogger } from '../../../platform/telemetry/logger.ts';
import { type Instance, startRedis } from '../../../scripts/services/instance.ts';

/** Starts one on a port from 27260 to 27269. */
export async function startServer(port: number, configuration: readonly string[] = []): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-redis-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const server = await startRedis({ folder, port, configuration }).catch((error: unknown) => {
    remove();
    throw error;
  });
  return { ...partsOf(server), stop: () => server.stop().finally(remove) };
}

function partsOf(server: Instance): Instance {
  return {
    address: server.address,
    folder: server.folder,
    logPath: server.logPath,
    get pid() {
      return server.pid;
    },
    kill: () => server.kill(),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

/** What the adapters need, and what they said. */
export function ports(): RedisPorts & { readonly said: string[] } {
  const said: string[] = [];
  return {
    clock: systemClock,
    logger: createLogger(systemClock, (line) => said.push(line)),
    random: Math.random,
    said,
  };
}

/** One command, by a connection of its own. */
export async function command(port: number, name: string, ...values: string[]): Promise<unknown> {
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, maxRetriesPerRequest: 0 });
  try {
    await client.connect();
    return await client.call(name, values);
  } finally {
    client.disconnect();
  }
}

const deadlineMs = 20_000;

/** Until it holds; throws after 20 s. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpMs = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > giveUpMs) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
