// Modules of the SDK register at dispatches over gRPC, and are called by all of them.

import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../dispatch/modules/free-port.ts';
import type { CallOutcome } from '../../../dispatch/modules/port.ts';
import { InProcessEndpointDirectory } from '../../../platform/coordination/in-process-endpoint-directory.ts';
import { connect } from '../../../platform/rpc/client.ts';
import { Code } from '../../../platform/rpc/error.ts';
import { Directory, Health, Source } from '../../../proto/gen/weir/directory/v1/directory_pb.js';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type RegisterOptions, type ServedModule, serveModule } from '../../../workers/typescript/index.ts';
import { becomes, type KnowingDispatch, known, startDispatch } from './dispatch-world.ts';

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const anyone = "{ modules: {}, register: ['test.*'] }";
const timeoutMs = 30_000;

async function dispatch(
  directory: InProcessEndpointDirectory,
  text = anyone,
  options: Parameters<typeof startDispatch>[2] = {},
): Promise<KnowingDispatch> {
  const started = await startDispatch(text, directory, options);
  closers.push(() => started.stop(0));
  return started;
}

interface Served extends ServedModule {
  readonly problems: readonly string[];
  /** Calls that came. Each is answered when it is let go, or at once without a gate. */
  readonly calls: () => number;
}

async function serve(
  engines: readonly string[],
  register: RegisterOptions = {},
  { gate = Promise.resolve(), address = '127.0.0.1:0', name = 'test.work' } = {},
): Promise<Served> {
  const problems: string[] = [];
  let calls = 0;
  const process = async () => {
    calls++;
    await gate;
    return {};
  };
  const served = await serveModule(
    { name, input: {}, output: {}, process },
    {
      ...{ address, graceMs: 5_000, handleSignals: false },
      register: { engines, onProblem: (problem) => problems.push(problem), ...register },
    },
  );
  closers.push(served.stop);
  return { ...served, problems, calls: () => calls };
}

const endingOf = ({ answer }: CallOutcome) => Ending[answer.ending];

describe('a module that registers at one dispatch', { timeout: timeoutMs }, () => {
  it('is called by all, with what it said of itself', async () => {
    const directory = new InProcessEndpointDirectory();
    const [one, other] = [await dispatch(directory), await dispatch(directory)];
    const said = { weight: 3, version: '1.2', unit: 'north', labels: { rack: '7' } };
    const served = await serve([one.address], said);
    for (const each of [one, other]) {
      await becomes('known', () => known(each, 'test.work').length === 1);
      expect(endingOf(await each.call('test.work'))).toBe('SUCCEEDED');
    }
    const client = connect(Directory, other.address);
    closers.push(client.close);
    const { modules } = await client.listModules({}, { timeoutMs });
    expect(modules).toMatchObject([
      {
        name: 'test.work',
        endpoints: [
          { address: served.address, health: Health.SERVING, source: Source.REGISTERED, concurrency: 64, ...said },
        ],
      },
    ]);
    expect([...one.errors, ...other.errors, ...served.problems]).toEqual([]);
  });

  it('and listens everywhere is called where its request came from', async () => {
    const one = await dispatch(new InProcessEndpointDirectory());
    const served = await serve([one.address], {}, { address: '0.0.0.0:0' });
    await becomes('known', () => known(one, 'test.work').length === 1);
    expect(known(one, 'test.work')).toEqual([`127.0.0.1:${served.port}`]);
    expect(endingOf(await one.call('test.work'))).toBe('SUCCEEDED');
  });

  it('is gone for all when its stream is gone', async () => {
    const directory = new InProcessEndpointDirectory();
    const [one, other] = [await dispatch(directory), await dispatch(directory)];
    const client = connect(Directory, one.address);
    const stream = client.register({ timeoutMs });
    await stream.send({ kind: { case: 'registration', value: { module: 'test.work', address: ':9' } } });
    await becomes('known', () => known(other, 'test.work').length === 1);
    client.close();
    stream.cancel();
    await becomes('gone', () => known(one, 'test.work').length + known(other, 'test.work').length === 0);
    expect(endingOf(await other.call('test.work'))).toBe('UNREACHABLE');
  });

  it('drains when it stops: what is out is answered, what is new goes elsewhere', async () => {
    const directory = new InProcessEndpointDirectory();
    const [one, other] = [await dispatch(directory), await dispatch(directory)];
    const gate = Promise.withResolvers<void>();
    const leaving = await serve([one.address], {}, { gate: gate.promise });
    await becomes('known', () => known(other, 'test.work').length === 1);
    const out = other.call('test.work');
    await becomes('called', () => leaving.calls() === 1);
    const staying = await serve([one.address]);
    await becomes('both known', () => known(other, 'test.work').length === 2);
    const stopped = leaving.stop();
    await becomes('draining', () => known(other, 'test.work').includes(`${leaving.address} draining`));
    for (let call = 0; call < 10; call++) expect(endingOf(await other.call('test.work'))).toBe('SUCCEEDED');
    expect([leaving.calls(), staying.calls()]).toEqual([1, 10]);
    gate.resolve();
    expect(endingOf(await out)).toBe('SUCCEEDED');
    await stopped;
    expect(known(other, 'test.work')).toEqual([staying.address]);
  });
});

describe('a dispatch refuses', { timeout: timeoutMs }, () => {
  it('modules that may not register, and the module says so', async () => {
    const one = await dispatch(new InProcessEndpointDirectory());
    const served = await serve([one.address], {}, { name: 'other.work' });
    await becomes('told', () => served.problems.length > 0);
    expect(served.problems).toEqual([
      `engine ${one.address}: module: "other.work" is not among those that may register here; those are test.*`,
    ]);
  });

  it('addresses outside the allowed networks', async () => {
    const one = await dispatch(new InProcessEndpointDirectory(), "{ register: ['test.*'], addresses: ['10.0.0.0/8'] }");
    const served = await serve([one.address]);
    await becomes('told', () => served.problems.length > 0);
    expect(served.problems).toEqual([
      `engine ${one.address}: address: ${served.address} is in none of the allowed networks; they are 10.0.0.0/8`,
    ]);
    const lying = await serve([one.address], { address: '169.254.169.254:80' });
    await becomes('told', () => lying.problems.length > 0);
    expect(lying.problems[0]).toContain('169.254.169.254:80 is link-local, which is never called');
  });

  it('what is no registration, with a status that says why', async () => {
    const one = await dispatch(new InProcessEndpointDirectory());
    const client = connect(Directory, one.address);
    closers.push(client.close);
    const stream = client.register({ timeoutMs });
    await stream.send({ kind: { case: 'heartbeat', value: {} } });
    await expect(stream.responses[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: 'kind: found heartbeat, allowed is a registration as the first message',
    });
    expect(one.errors).toEqual([]);
  });
});

describe('a module whose dispatch', { timeout: timeoutMs }, () => {
  it('stops in good order is at another one before', async () => {
    const directory = new InProcessEndpointDirectory();
    const [one, other] = [await dispatch(directory), await dispatch(directory)];
    const served = await serve([one.address, other.address]);
    await becomes('known', () => known(one, 'test.work').length === 1);
    let fewest = Number.POSITIVE_INFINITY;
    closers.push(directory.watch(() => (fewest = Math.min(fewest, directory.endpoints().length))));
    const first = directory.endpoints()[0]?.registration;
    // Both stop, one after the other: so the one that has it does.
    await one.stop(10_000);
    await becomes('known', () => directory.endpoints().length === 1);
    const again = await dispatch(directory, anyone, { address: one.address });
    await other.stop(10_000);
    await becomes('known again', () => known(again, 'test.work').length === 1);
    expect(directory.endpoints()[0]?.registration).not.toBe(first);
    expect(fewest).toBe(1);
    expect(endingOf(await again.call('test.work'))).toBe('SUCCEEDED');
    expect(served.problems).toEqual([]);
  });

  it('is killed goes to another one', async () => {
    const directory = new InProcessEndpointDirectory();
    const [one, other] = [await dispatch(directory), await dispatch(directory)];
    const served = await serve([one.address, other.address]);
    await becomes('known', () => directory.endpoints().length === 1);
    const first = directory.endpoints()[0]?.registration;
    await Promise.all([one.stop(0), other.stop(0)]);
    await becomes('gone', () => directory.endpoints().length === 0);
    const again = await dispatch(directory, anyone, { address: other.address });
    await becomes('known again', () => known(again, 'test.work').length === 1);
    expect(directory.endpoints()[0]?.registration).not.toBe(first);
    expect(known(again, 'test.work')).toEqual([served.address]);
  });

  it('is not there yet registers when it comes', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const served = await serve([address]);
    await becomes('told', () => served.problems.length > 0);
    expect(served.problems[0]).toMatch(new RegExp(`^engine ${address}: `));
    const late = await dispatch(new InProcessEndpointDirectory(), anyone, { address });
    await becomes('known', () => known(late, 'test.work').length === 1);
    await served.stop();
    await becomes('gone', () => known(late, 'test.work').length === 0);
  });
});

describe('endpoints of several units', { timeout: timeoutMs }, () => {
  it('are called by dispatches of their own unit first', async () => {
    const directory = new InProcessEndpointDirectory();
    const north = await dispatch(directory, anyone, { unit: 'north' });
    const south = await dispatch(directory, anyone, { unit: 'south' });
    const inNorth = await serve([north.address], { unit: 'north' });
    const inSouth = await serve([north.address], { unit: 'south' });
    for (const each of [north, south]) {
      const isReady = () =>
        each.modules.view()[0]?.endpoints.filter(({ health }) => health === Health.SERVING).length === 2;
      await becomes('both serve', isReady);
    }
    for (let call = 0; call < 5; call++) await north.call('test.work');
    expect([inNorth.calls(), inSouth.calls()]).toEqual([5, 0]);
    for (let call = 0; call < 5; call++) await south.call('test.work');
    expect([inNorth.calls(), inSouth.calls()]).toEqual([5, 5]);
  });
});

describe('two processes that claim one address', { timeout: timeoutMs }, () => {
  it('do not take it from each other without end: the older one is told', async () => {
    const directory = new InProcessEndpointDirectory();
    const one = await dispatch(directory);
    const older = await serve([one.address], { address: '127.0.0.1:9' });
    await becomes('known', () => known(one, 'test.work').length === 1);
    const younger = await serve([one.address], { address: '127.0.0.1:9' });
    await becomes('told', () => older.problems.length > 0);
    expect(older.problems[0]).toMatch(/another registration, \d+-.*, holds now$/);
    expect(known(one, 'test.work')).toEqual(['127.0.0.1:9']);
    expect(younger.problems).toEqual([]);
  });
});
