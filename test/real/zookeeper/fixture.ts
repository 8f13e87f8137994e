// What the tests on ZooKeeper share: sessions with a root of their own, and waiting for what must come.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'node-zookeeper-client';
import { onTestFinished } from 'vitest';
import { ZooKeeperSession, type ZooKeeperSessionOptions } from '../../../platform/coordination/zookeeper/session.ts';
import { sharedPlace } from '../../../scripts/services/catalogue.ts';

export const sharedServer = `127.0.0.1:${sharedPlace.ports.zookeeper}`;

/** In ms: the shortest that the test servers grant is 1,000. */
export const sessionTimeoutMs = 2_000;

export function newRoot(): string {
  return `/test-${randomUUID()}`;
}

/** A session that ends with the test. */
export function openSession(options: Partial<ZooKeeperSessionOptions>): ZooKeeperSession {
  const session = new ZooKeeperSession({
    servers: [sharedServer],
    root: newRoot(),
    sessionTimeoutMs,
    operationTimeoutMs: 2_000,
    ...options,
  });
  onTestFinished(() => session.close());
  return session;
}

/** Answers once `condition` holds. Throws when that takes longer than `withinMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const giveUpMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(10);
  }
}

/** Removes everything below the session's root, and the root. */
export async function removeTree(session: ZooKeeperSession, path = ''): Promise<void> {
  const below = await session.children(path === '' && session.root === '' ? '/' : path);
  if (below.kind !== 'done') return;
  await Promise.all(below.value.names.map((name) => removeTree(session, `${path}/${name}`)));
  await session.change([{ kind: 'remove', path }]);
}

/** Fails the test for whatever an adapter has to complain about. */
export function noProblem(problem: string): void {
  throw new Error(`unexpected: ${problem}`);
}

/** Ends a session as its owner would, from another connection. */
export async function endFromOutside({ identity }: ZooKeeperSession, server: string): Promise<void> {
  if (!identity) throw new Error('there is no session');
  // The declarations of the library leave these options out.
  const takeOver = { sessionTimeout: sessionTimeoutMs, sessionId: identity.id, sessionPassword: identity.password };
  const client = createClient(server, takeOver);
  await new Promise<void>((resolve) => {
    client.once('connected', () => {
      client.close();
      resolve();
    });
    client.connect();
  });
}
