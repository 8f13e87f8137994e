import { createServer } from 'node:net';

/**
 * A port of this machine that nobody listens on now, for tests. Below 32768, where the system begins to give ports to outgoing
 * connections; random, since test files run side by side.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error('no free port found');
}
