import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { type Client, connect } from '../../platform/rpc/client.ts';
import { Code } from '../../platform/rpc/error.ts';
import { type RunningServer, startServer } from '../../platform/rpc/server.ts';
import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import { FlowCatalogue } from '../../store/flow-catalogue.ts';
import { flowsService } from './flows.ts';

let server: RunningServer;
let client: Client<typeof Flows>;

beforeAll(async () => {
  const catalogue = new FlowCatalogue(new MemoryConfiguration(), new ManualClock());
  server = await startServer({ address: '127.0.0.1:0', services: [flowsService(catalogue)], onError: () => {} });
  client = connect(Flows, `127.0.0.1:${server.port}`);
});

afterAll(async () => {
  client.close();
  await server.stop(0);
});

const options = { timeoutMs: 10_000 };
const flow = (name: string, module = 'a.b') => `{ flow: ${name}, business: test, steps: { one: { call: ${module} } } }`;

describe('Validate', () => {
  it('gives the flow when it is valid', async () => {
    const { flow: valid, problems } = await client.validate({ text: flow('valid') }, options);
    expect(problems).toEqual([]);
    expect(valid).toMatchObject({ name: 'valid', business: 'test' });
  });

  it('gives every problem with its place', async () => {
    const { flow: none, problems } = await client.validate({ text: flow('Bad', 'B') }, options);
    expect(none).toBeUndefined();
    expect(problems.map(({ path, line }) => `${path} ${line}`)).toEqual(['flow 1', 'steps.one.call 1']);
  });
});

describe('Push and Release', () => {
  it('store versions, and release them', async () => {
    expect(await client.push({ text: flow('mail') }, options)).toMatchObject({ version: 1, created: true });
    expect(await client.push({ text: `# again\n${flow('mail')}` }, options)).toMatchObject({
      version: 1,
      created: false,
    });
    await expect(client.get({ name: 'mail' }, options)).rejects.toMatchObject({
      code: Code.NOT_FOUND,
      message: 'no version of flow mail is released; its versions are 1 to 1',
    });
    const second = await client.push({ text: flow('mail', 'c.d'), expectedVersion: 1, release: true }, options);
    expect(second).toMatchObject({ version: 2, created: true });
    expect((await client.get({ name: 'mail' }, options)).flow).toMatchObject({ version: 2, text: flow('mail', 'c.d') });
    expect(await client.release({ name: 'mail', version: 1 }, options)).toMatchObject({ previousVersion: 2 });
    expect((await client.list({}, options)).flows).toMatchObject([
      { name: 'mail', business: 'test', newestVersion: 2, releasedVersion: 1 },
    ]);
  });

  it('store nothing of a flow with problems', async () => {
    const { version, problems } = await client.push({ text: flow('Bad'), release: true }, options);
    expect({ version, paths: problems.map(({ path }) => path) }).toEqual({ version: 0, paths: ['flow'] });
  });

  it('refuse a version that is not the newest one seen', async () => {
    await client.push({ text: flow('seen') }, options);
    await expect(client.push({ text: flow('seen', 'x.y'), expectedVersion: 0 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message: 'expected_version: flow seen has version 1 as its newest, the request names 0',
    });
    await expect(client.push({ text: flow('unseen'), expectedVersion: 3 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message: 'expected_version: flow unseen has no version yet, the request names 3',
    });
  });
});

describe('names and versions that are not there', () => {
  it.each([
    [{ name: 'mial', version: 1 }, Code.NOT_FOUND, "there is no flow mial; did you mean 'mail'?"],
    [{ name: 'nothing-like-it', version: 1 }, Code.NOT_FOUND, 'there is no flow nothing-like-it'],
    [{ name: 'mail', version: 9 }, Code.NOT_FOUND, 'flow mail has no version 9; its versions are 1 to 2'],
    [
      { name: '../x', version: 1 },
      Code.INVALID_ARGUMENT,
      'name: found "../x", allowed is [a-z][a-z0-9_-]*, up to 64 characters',
    ],
  ])('%o', async (request, code, message) => {
    await expect(client.get(request, options)).rejects.toMatchObject({ code, message });
    await expect(client.release(request, options)).rejects.toMatchObject({ code, message });
  });
});
