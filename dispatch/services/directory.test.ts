import { afterEach, describe, expect, it } from 'vitest';
import { type Client, connect } from '../../platform/rpc/client.ts';
import { Code } from '../../platform/rpc/error.ts';
import { startServer } from '../../platform/rpc/server.ts';
import { Directory, Health, Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import type { ModuleView } from '../modules/caller.ts';
import { freePort } from '../modules/free-port.ts';
import { directoryService } from './directory.ts';

const closers: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(view: () => ModuleView[]): Promise<Client<typeof Directory>> {
  const address = `127.0.0.1:${await freePort()}`;
  const onError = (error: unknown): void => {
    throw error;
  };
  const server = await startServer({ address, services: [directoryService(view)], onError });
  const client = connect(Directory, address);
  closers.push(
    () => client.close(),
    () => server.stop(0),
  );
  return client;
}

describe('Register', () => {
  it('is refused where nothing takes registrations', async () => {
    const client = await serve(() => []);
    const stream = client.register({ timeoutMs: 5_000 });
    await expect(stream.responses[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: Code.UNIMPLEMENTED,
      message: 'endpoints do not register here; list them in the settings',
    });
  });
});

describe('ListModules', () => {
  it('tells the modules as they are at the moment of the call', async () => {
    let inFlight = 0;
    const client = await serve(() => [
      {
        name: 'mail.parse',
        endpoints: [
          {
            ...{ address: '127.0.0.1:27101', health: Health.SERVING, inFlight: ++inFlight, concurrency: 32 },
            ...{ source: Source.REGISTERED, weight: 3, version: '1.2', unit: 'north', labels: { rack: '7' } },
            ...{ draining: true, failing: false },
          },
        ],
        waiting: 7,
      },
    ]);
    for (const expected of [1, 2]) {
      expect(await client.listModules({}, { timeoutMs: 5_000 })).toMatchObject({
        modules: [
          {
            name: 'mail.parse',
            waiting: 7,
            endpoints: [
              { inFlight: expected, source: Source.REGISTERED, weight: 3, labels: { rack: '7' }, draining: true },
            ],
          },
        ],
      });
    }
  });
});
