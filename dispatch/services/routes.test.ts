import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { type Client, connect } from '../../platform/rpc/client.ts';
import { Code } from '../../platform/rpc/error.ts';
import { type RunningServer, startServer } from '../../platform/rpc/server.ts';
import { Businesses } from '../../proto/gen/weir/flow/v1/businesses_pb.js';
import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import { Routes } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { BusinessCatalogue } from '../../store/catalogue/business-catalogue.ts';
import { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import { RouteCatalogue } from '../../store/catalogue/route-catalogue.ts';
import { businessesService } from './businesses.ts';
import { flowsService } from './flows.ts';
import { routesService } from './routes.ts';

const options = { timeoutMs: 10_000 };

let server: RunningServer;
let routes: Client<typeof Routes>;
let businesses: Client<typeof Businesses>;

beforeAll(async () => {
  const configuration = new MemoryConfiguration();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const lines = new BusinessCatalogue(configuration, clock);
  const catalogue = new FlowCatalogue(configuration, clock);
  const services = [
    flowsService(catalogue, lines),
    routesService(new RouteCatalogue(configuration, clock, catalogue), catalogue),
    businessesService(lines),
  ];
  server = await startServer({ address: '127.0.0.1:0', services, onError: () => {} });
  const address = `127.0.0.1:${server.port}`;
  routes = connect(Routes, address);
  businesses = connect(Businesses, address);
  const flows = connect(Flows, address);
  const text = (name: string, business: string) =>
    `{ flow: ${name}, business: ${business}, steps: { a: { call: m } } }`;
  await flows.push({ text: text('intake', 'mail'), release: true, author: 'ann' }, options);
  await flows.push({ text: text('large', 'mail'), release: true, author: 'ann' }, options);
  await flows.push({ text: text('draft', 'mail'), author: 'ann' }, options);
  await flows.push({ text: text('invoices', 'billing'), release: true, author: 'bob' }, options);
  flows.close();
});

afterAll(async () => {
  routes.close();
  businesses.close();
  await server.stop(0);
});

const table = (flow: string, otherwise = 'refuse') =>
  `business: mail\nrules:\n  - { when: "level < 3", flow: ${flow} }\notherwise: ${otherwise}\n`;

describe('routes', () => {
  it('are pushed, released, rolled back and listed', async () => {
    expect(await routes.push({ text: table('intake'), author: 'ann', release: true }, options)).toMatchObject({
      ...{ version: 1, created: true },
    });
    expect(
      await routes.push({ text: table('large', 'intake'), expectedVersion: 1, author: 'bob' }, options),
    ).toMatchObject({ version: 2 });
    const released = await routes.release({ business: 'mail', version: 2, expectedRelease: 1, author: 'bob' }, options);
    expect(released).toMatchObject({ previousVersion: 1, release: { number: 2, version: 2, author: 'bob' } });
    expect((await routes.get({ business: 'mail' }, options)).routes).toMatchObject({ version: 2, author: 'bob' });
    const back = await routes.rollback({ business: 'mail', comment: 'wrong' }, options);
    expect(back.release).toMatchObject({ number: 3, version: 1, restores: 1, comment: 'wrong' });
    expect((await routes.list({}, options)).routes).toMatchObject([
      { business: 'mail', newestVersion: 2, releasedVersion: 1, releaseNumber: 3 },
    ]);
    const { releases } = await routes.listReleases({ business: 'mail' }, options);
    expect(releases.map(({ number }) => number)).toEqual([3, 2, 1]);
  });

  it.each([
    [table('intak'), 'rules[0].flow', `there is no flow "intak"; did you mean 'intake'?`],
    [table('invoices'), 'rules[0].flow', 'flow invoices belongs to business billing, found "mail"'],
  ])('that lead nowhere are refused with their place', async (text, path, message) => {
    const { version, problems } = await routes.push({ text, release: true }, options);
    expect({ version, problems }).toMatchObject({ version: 0, problems: [{ path, message, line: 3, column: 26 }] });
  });

  it('conflict by name, and are not released before their flows', async () => {
    await expect(routes.push({ text: table('draft'), expectedVersion: 1 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message:
        'expected_version: routes of mail has version 2 as its newest (by bob, 2026-01-01T00:00:00.000Z), the request names 1',
    });
    await expect(routes.push({ text: table('draft'), release: true }, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'rules[0].flow: no version of flow draft is released; release it first',
    });
    await expect(routes.release({ business: 'mail', version: 1, expectedRelease: 1 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
    });
  });

  it.each([
    [{ business: 'mial' }, `there are no routes of business mial; did you mean 'mail'?`],
    [{ business: 'mail', version: 9 }, 'the routes of business mail have no version 9; versions are 1 to 3'],
  ])('that are not there: %o', async (request, message) => {
    await expect(routes.get(request, options)).rejects.toMatchObject({ code: Code.NOT_FOUND, message });
    if ('version' in request) await expect(routes.release(request, options)).rejects.toMatchObject({ message });
    else await expect(routes.rollback(request, options)).rejects.toMatchObject({ message });
  });
});

describe('business lines', () => {
  it('come with their first flow, and are edited', async () => {
    expect((await businesses.list({}, options)).businesses).toMatchObject([
      { name: 'billing', owners: ['bob'], revision: 1 },
      { name: 'mail', owners: ['ann'], revision: 1 },
    ]);
    const owners = { names: ['ann', 'team-mail'] };
    const set = await businesses.set({ name: 'mail', owners, author: 'bob', expectedRevision: 1 }, options);
    expect(set.business).toMatchObject({ owners: owners.names, description: '', author: 'bob', revision: 2 });
    await expect(businesses.set({ name: 'mail', author: 'eve', expectedRevision: 1 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message:
        'expected_revision: business mail has revision 2 (by bob, 2026-01-01T00:00:00.000Z), the request names 1',
    });
    await expect(businesses.set({ name: 'new', expectedRevision: 1 }, options)).rejects.toMatchObject({
      message: 'expected_revision: business new is not there yet, the request names 1',
    });
  });

  it.each([
    [{ name: 'A' }, 'name: found "A", allowed is [a-z][a-z0-9_-]*, up to 64 characters'],
    [{ name: 'a', owners: { names: ['x', 'x'] } }, 'owners[1]: "x" is there twice'],
    [{ name: 'a', owners: { names: [' '] } }, 'owners[0]: is empty'],
    [
      { name: 'a', owners: { names: Array.from({ length: 101 }, String) } },
      'owners: found 101, at most 100 are allowed',
    ],
    [{ name: 'a', description: 'x'.repeat(4_097) }, 'description: found 4,097 characters, at most 4,096 are allowed'],
  ])('refuse %o', async (request, message) => {
    await expect(businesses.set(request, options)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT, message });
  });
});
