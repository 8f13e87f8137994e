import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { type Client, connect } from '../../platform/rpc/client.ts';
import { Code } from '../../platform/rpc/error.ts';
import { type RunningServer, startServer } from '../../platform/rpc/server.ts';
import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import { BusinessCatalogue } from '../../store/catalogue/business-catalogue.ts';
import { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import { flowsService } from './flows.ts';

let server: RunningServer;
let client: Client<typeof Flows>;

beforeAll(async () => {
  const configuration = new MemoryConfiguration();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const service = flowsService(new FlowCatalogue(configuration, clock), new BusinessCatalogue(configuration, clock));
  server = await startServer({ address: '127.0.0.1:0', services: [service], onError: () => {} });
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
    await client.push({ text: flow('seen'), author: 'ann' }, options);
    await expect(client.push({ text: flow('seen', 'x.y'), expectedVersion: 0 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message:
        'expected_version: flow seen has version 1 as its newest (by ann, 2026-01-01T00:00:00.000Z), the request names 0',
    });
    await expect(client.push({ text: flow('unseen'), expectedVersion: 3 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message: 'expected_version: flow unseen has no version yet, the request names 3',
    });
  });
});

describe('gray releases and rollbacks', () => {
  it('replace each other, and keep their history', async () => {
    for (const module of ['a.a', 'b.b']) await client.push({ text: flow('gray', module) }, options);
    const first = await client.release({ name: 'gray', version: 1, author: 'ann', comment: 'first' }, options);
    expect(first.release).toMatchObject({ number: 1, version: 1, author: 'ann', comment: 'first' });
    const gray = { version: 2, shareBasisPoints: 1_000 };
    const second = await client.release({ name: 'gray', gray, author: 'bob' }, options);
    expect(second).toMatchObject({ previousVersion: 1, release: { number: 2, version: 1, gray } });
    expect((await client.list({}, options)).flows).toContainEqual(
      expect.objectContaining({ name: 'gray', releasedVersion: 1, grayVersion: 2, releaseNumber: 2 }),
    );
    await client.release({ name: 'gray', version: 2, expectedRelease: 2 }, options);
    const back = await client.rollback({ name: 'gray', author: 'ann', comment: 'too many failures' }, options);
    expect(back.release).toMatchObject({ number: 4, version: 1, gray, restores: 2, comment: 'too many failures' });
    const { releases } = await client.listReleases({ name: 'gray' }, options);
    expect(releases.map(({ number, version }) => `${number}:${version}`)).toEqual(['4:1', '3:2', '2:1', '1:1']);
  });

  it('name whose release came first', async () => {
    await expect(client.release({ name: 'gray', version: 2, expectedRelease: 2 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message:
        'expected_release: flow gray has release 4, version 1 (by ann, 2026-01-01T00:00:00.000Z), the request names 2',
    });
    await expect(client.rollback({ name: 'gray', toRelease: 77 }, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'flow gray has no release to go back to; kept are 1 to 4',
    });
  });

  it.each([
    [{ version: 1, shareBasisPoints: 1 }, 'gray.version: 1 is the stable version already; a gray one is another'],
    [{ version: 2 }, 'gray.share_basis_points: is 0, and no business lines or keys are named: no item would be taken'],
    [
      { version: 2, shareBasisPoints: 10_001 },
      'gray.share_basis_points: found 10,001, at most 10,000 (all items) are allowed',
    ],
    [
      { version: 2, businesses: ['tset'] },
      `gray.businesses[0]: there is no business line "tset"; did you mean 'test'?`,
    ],
    [{ version: 2, keys: [new Uint8Array()] }, 'gray.keys[0]: found 0 bytes, allowed are 1 to 1,024'],
    [
      { version: 2, keys: Array.from({ length: 1_001 }, () => new Uint8Array(1)) },
      'gray.keys: found 1,001, at most 1,000 are allowed',
    ],
    [
      { version: 2, keys: Array.from({ length: 100 }, () => new Uint8Array(1_001)) },
      'gray.keys: found 100,100 bytes, at most 100,000 are allowed together',
    ],
  ])('refuse %o', async (gray, message) => {
    await expect(client.release({ name: 'gray', gray }, options)).rejects.toMatchObject({
      ...{ code: Code.INVALID_ARGUMENT, message },
    });
  });

  it('need a version that is released', async () => {
    await client.push({ text: flow('unreleased') }, options);
    const gray = { version: 1, shareBasisPoints: 1 };
    await expect(client.release({ name: 'unreleased', gray }, options)).rejects.toMatchObject({
      message: 'no version of flow unreleased is released; its versions are 1 to 1',
    });
    await expect(client.release({ name: 'unreleased', version: 0 }, options)).rejects.toMatchObject({
      message: 'version: is 0, which keeps the released one beside a gray version',
    });
    await expect(client.rollback({ name: 'unreleased' }, options)).rejects.toMatchObject({
      message: 'flow unreleased has no release to go back to; nothing was released yet',
    });
  });
});

describe('authors, comments and business lines', () => {
  it.each([
    [{ author: 'x'.repeat(129) }, 'author: found 129 characters, at most 128 are allowed'],
    [{ comment: 'x'.repeat(1_025) }, 'comment: found 1,025 characters, at most 1,024 are allowed'],
    [{ author: 'a\u001b[31m' }, 'author: control characters are not allowed'],
  ])('%o', async (request, message) => {
    await expect(client.push({ text: flow('audited'), ...request }, options)).rejects.toMatchObject({
      ...{ code: Code.INVALID_ARGUMENT, message },
    });
  });

  it('a flow stays in its business line', async () => {
    await expect(client.push({ text: flow('mail').replace('test', 'other') }, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'flow mail belongs to business test, found "other"; give it another name',
    });
  });
});

describe('Diff', () => {
  it('compares versions, the released one, and texts', async () => {
    const between = await client.diff({ name: 'mail', fromVersion: 1, to: { case: 'toVersion', value: 2 } }, options);
    expect(between.differences).toMatchObject([{ path: 'steps.one.call.module', from: 'a.b', to: 'c.d' }]);
    const text = flow('mail', 'x.y');
    const against = await client.diff({ name: 'mail', to: { case: 'toText', value: text } }, options);
    expect(against.differences).toMatchObject([{ path: 'steps.one.call.module', from: 'a.b', to: 'x.y' }]);
    expect((await client.diff({ name: 'mail', fromVersion: 1 }, options)).differences).toEqual([]);
    const bad = await client.diff({ name: 'mail', to: { case: 'toText', value: flow('Bad') } }, options);
    expect(bad.problems).toMatchObject([{ path: 'flow' }]);
    await expect(client.diff({ name: 'mail', fromVersion: 9 }, options)).rejects.toMatchObject({
      code: Code.NOT_FOUND,
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
