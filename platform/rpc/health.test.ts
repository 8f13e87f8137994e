import { afterEach, describe, expect, it } from 'vitest';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../proto/gen/grpc/health/v1/health_pb.js';
import { Module } from '../../proto/gen/weir/module/v1/module_pb.js';
import { type Client, connect } from './client.ts';
import { Code } from './error.ts';
import { implement } from './handlers.ts';
import { type RunningServer, startServer } from './server.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(): Promise<{ server: RunningServer; client: Client<typeof Health> }> {
  const module = implement(Module, { process: async () => ({}), async *processStream() {} });
  const server = await startServer({ address: '127.0.0.1:0', services: [module], onError: () => {} });
  const client = connect(Health, `127.0.0.1:${server.port}`);
  closers.push(() => server.stop(0), client.close);
  return { server, client };
}

const options = { timeoutMs: 10_000 };

describe('health', () => {
  it('is NOT_SERVING until the owner says otherwise', async () => {
    const { server, client } = await serve();
    expect((await client.check({}, options)).status).toBe(ServingStatus.NOT_SERVING);
    server.health.set(true);
    expect((await client.check({}, options)).status).toBe(ServingStatus.SERVING);
    expect((await client.check({ service: Module.typeName }, options)).status).toBe(ServingStatus.SERVING);
  });

  it('is kept per service', async () => {
    const { server, client } = await serve();
    server.health.set(true, Module.typeName);
    expect((await client.check({}, options)).status).toBe(ServingStatus.NOT_SERVING);
    expect((await client.check({ service: Module.typeName }, options)).status).toBe(ServingStatus.SERVING);
    expect(() => server.health.set(true, 'weir.Nothing')).toThrow(/no service weir.Nothing/);
  });

  it('of an unknown service is NOT_FOUND, and SERVICE_UNKNOWN when watched', async () => {
    const { client } = await serve();
    await expect(client.check({ service: 'x' }, options)).rejects.toMatchObject({ code: Code.NOT_FOUND });
    for await (const { status } of client.watch({ service: 'x' })) {
      expect(status).toBe(ServingStatus.SERVICE_UNKNOWN);
      break;
    }
  });

  it('tells watchers at once, at each change, and of the end', async () => {
    const { server, client } = await serve();
    const seen: ServingStatus[] = [];
    for await (const { status } of client.watch({})) {
      seen.push(status);
      if (seen.length === 1) server.health.set(true);
      if (seen.length === 2) {
        server.health.set(true);
        void server.stop(60_000);
      }
    }
    expect(seen).toEqual([ServingStatus.NOT_SERVING, ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
    expect(await server.stop(60_000)).toBe('finished');
  });
});
