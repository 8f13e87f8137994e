// The client against a server that says what a real one can't be made to say. What needs a real one: test/real/hbase-client.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../platform/clock/manual-clock.ts';
import { connectHBase, type HBaseOptions } from './client.ts';
import * as methods from './methods.ts';
import type { GroupResult, HBase, Put } from './port.ts';
import { groupAnswer, type Request, ScriptedServer } from './scripted-server.ts';

const table = 't';
const row = Buffer.from('row');
const put: Put = { kind: 'put', row, family: 'f', timestamp: 1, cells: [{ qualifier: row, value: row }] };
const group = { row, mutations: [put], conditions: [{ row, family: 'f', qualifier: row }] };

let server: ScriptedServer;
let clock: ManualClock;
let clients: HBase[];

beforeEach(async () => {
  server = await ScriptedServer.listen();
  server.script = server.catalogue(table);
  clock = new ManualClock();
  clients = [];
});
afterEach(async () => {
  for (const client of clients) await client.close();
  await server.close();
});

function connect(options: Partial<HBaseOptions> = {}): HBase {
  const client = connectHBase({ addresses: [server.address], clock, random: () => 0.5, ...options });
  clients.push(client);
  return client;
}

/** Lets the sockets work and, as nothing else moves the clock, `stepMs` of its time pass at a time until the promise settles. */
async function settled<T>(promise: Promise<T>, stepMs = 0): Promise<T> {
  const state = { isOver: false };
  const end = () => {
    state.isOver = true;
  };
  promise.then(end, end);
  while (!state.isOver) await clock.advance(stepMs);
  return await promise;
}

async function reached(condition: () => boolean): Promise<void> {
  while (!condition()) await clock.advance(0);
}

const write = async (client: HBase, stepMs = 0): Promise<GroupResult> =>
  (await settled(client.mutateRows(table, [group]), stepMs))[0]!;

describe('a group', () => {
  it('is done, or its condition failed, as the server says', async () => {
    const client = connect();
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
    expect(await write(client)).toEqual({ kind: 'done' });
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(false));
    expect(await write(client)).toEqual({ kind: 'conditionFailed' });
  });

  it.each([
    'org.apache.hadoop.hbase.NotServingRegionException',
    'org.apache.hadoop.hbase.exceptions.RegionOpeningException',
    'org.apache.hadoop.hbase.regionserver.WrongRegionException',
    'org.apache.hadoop.hbase.regionserver.RegionServerStoppedException',
  ])('is sent again elsewhere after %s', async (className) => {
    for (const fail of [
      (request: Request) => request.answer(methods.multi, groupAnswer(className)),
      (request: Request) => request.fail(className),
    ]) {
      const client = connect();
      const lookups = server.count('Scan');
      const calls = server.count('Multi');
      server.script['Multi'] = (request) => {
        if (server.count('Multi') < calls + 3) fail(request);
        else request.answer(methods.multi, groupAnswer(true));
      };
      expect(await write(client, 5)).toEqual({ kind: 'done' });
      expect(server.count('Scan') - lookups).toBe(3);
    }
  });

  it.each([
    'org.apache.hadoop.hbase.CallQueueTooBigException',
    'org.apache.hadoop.hbase.RegionTooBusyException',
    'org.apache.hadoop.hbase.quotas.RpcThrottlingException',
  ])('is sent again after a pause and %s', async (className) => {
    const client = connect();
    const sentAtMs: number[] = [];
    server.script['Multi'] = (request) => {
      sentAtMs.push(clock.monotonicMs());
      if (sentAtMs.length < 5) request.answer(methods.multi, groupAnswer(className));
      else request.answer(methods.multi, groupAnswer(true));
    };
    expect(await write(client, 1)).toEqual({ kind: 'done' });
    const pausesMs = sentAtMs.slice(1).map((atMs, index) => atMs - sentAtMs[index]!);
    // 20, 40, 80, 160 with half of the jitter; the clock moves on while the sockets work.
    for (const [index, pauseMs] of pausesMs.entries()) expect(pauseMs).toBeGreaterThanOrEqual(15 * 2 ** index);
    expect(server.count('Scan')).toBe(1);
  });

  it('is not sent when the server stays busy until the time is over', async () => {
    server.script['Multi'] = (request) => request.fail('org.apache.hadoop.hbase.CallQueueTooBigException');
    const result = await write(connect(), 100);
    expect(result).toMatchObject({ kind: 'notSent', cause: expect.stringContaining('CallQueueTooBig') });
  });

  it('is sent to where a moved region is now, without a look into the catalogue', async () => {
    const other = await ScriptedServer.listen();
    other.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
    server.script['Multi'] = (request) => {
      const message = `Region moved to: hostname=127.0.0.1 port=${other.address.split(':')[1]} startCode=1.`;
      const exception = { name: 'a.RegionMovedException', value: Buffer.from(message) };
      request.answer(methods.multi, { regionActionResult: [{ exception }] });
    };
    const client = connect();
    expect(await write(client, 5)).toEqual({ kind: 'done' });
    expect(await write(client)).toEqual({ kind: 'done' });
    expect([server.count('Scan'), server.count('Multi'), other.count('Multi')]).toEqual([1, 1, 2]);
    await other.close();
  });

  it('is refused, once, for what trying again does not mend', async () => {
    const client = connect();
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer('a.NoSuchColumnFamilyException'));
    expect(await write(client)).toMatchObject({ kind: 'refused' });
    server.script['Multi'] = (request) => request.fail('java.lang.UnheardOf', { doNotRetry: true });
    expect(await write(client)).toMatchObject({ kind: 'refused', cause: 'java.lang.UnheardOf: as the test wants' });
    expect(server.count('Multi')).toBe(2);
  });

  it.each<[string, (request: Request) => void]>([
    ['an exception that nobody knows', (request) => request.fail('java.io.IOException')],
    ['one in the answer', (request) => request.answer(methods.multi, groupAnswer('java.io.IOException'))],
    ['an answer without it', (request) => request.answer(methods.multi, {})],
    ['no answer', () => {}],
    ['a connection that is cut', ({ socket }) => void socket.destroy()],
    ['half an answer', ({ socket }) => void socket.end(Buffer.from([0, 0, 0, 9, 1]))],
    ['an answer that is too large', (request) => request.say(Buffer.from([0, 1, 0, 1]))],
    ['a length that cannot be', (request) => request.say(Buffer.from([255, 255, 255, 255]))],
    ['bytes that are no header', (request) => request.say(Buffer.from([0, 0, 0, 3, 2, 7, 7]))],
    ['bytes that are no message', malformedMessage],
  ])('is unknown, and sent once, after %s', async (_, script) => {
    const client = connect({ maxResponseBytes: 65_536 });
    server.script['Multi'] = script;
    expect(await write(client, 10)).toMatchObject({ kind: 'unknown' });
    expect(server.count('Multi')).toBe(1);
    // The client is none the worse for it.
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
    expect(await write(client, 10)).toEqual({ kind: 'done' });
  });

  it('names what was wrong with the answer', async () => {
    const client = connect({ maxResponseBytes: 65_536 });
    server.script['Multi'] = (request) => request.say(Buffer.from([0, 1, 0, 1]));
    const result = await write(client);
    expect(result).toMatchObject({
      cause: `${server.address} sent what is no answer: a frame of 65537 bytes; 1 to 65536 are allowed`,
    });
  });

  it('tells the server how long it waits', async () => {
    const client = connect({ callTimeoutMs: 700 });
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
    await write(client);
    expect(server.requests.find(({ header }) => header.methodName === 'Multi')?.header.timeout).toBe(700);
  });

  it('is not sent by a closed client', async () => {
    const client = connect();
    await client.close();
    expect(await write(client, 100)).toMatchObject({ kind: 'notSent', cause: expect.stringContaining('closed') });
  });

  it('that makes no sense is thrown back', async () => {
    const client = connect();
    const withPut = (change: Partial<Put>) =>
      client.mutateRows(table, [{ ...group, mutations: [{ ...put, ...change }] }]);
    await expect(withPut({ timestamp: -1 })).rejects.toThrow('a mutation has the timestamp -1');
    await expect(client.mutateRows(table, [{ ...group, mutations: [] }])).rejects.toThrow('no mutations');
    const conditions = [{ row, family: 'f', qualifier: row, equals: Buffer.alloc(0) }];
    await expect(client.mutateRows(table, [{ ...group, conditions }])).rejects.toThrow('compares with no bytes');
  });
});

describe('calls to one server', () => {
  it('have places and a waiting line; what finds neither is not sent at once', async () => {
    const client = connect({ maxInFlight: 2, maxWaiting: 3 });
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
    await write(client);
    const held: Request[] = [];
    server.script['Multi'] = (request) => void held.push(request);
    const writes = Array.from({ length: 3 }, () => client.mutateRows(table, [group]));
    await reached(() => held.length === 2);
    const more = Array.from({ length: 3 }, () => client.mutateRows(table, [group]));
    expect(await settled(more[2]!)).toEqual([
      { kind: 'notSent', cause: `${server.address} has 3 calls waiting, as many as may` },
    ]);
    expect(held.length).toBe(2);
    while (held.length > 0) {
      held.shift()?.answer(methods.multi, groupAnswer(true));
      await clock.advance(0);
      const isOver = server.count('Multi') === 6 && held.length === 0;
      if (!isOver) await reached(() => held.length > 0);
    }
    expect(await settled(Promise.all([...writes, more[0]!, more[1]!]))).toEqual(
      Array.from({ length: 5 }, () => [{ kind: 'done' }]),
    );
  });

  it('keep the connection when one of them gets no answer and others do', async () => {
    const client = connect({ callTimeoutMs: 1_000 });
    server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
    await write(client);
    let silent = true;
    server.script['Multi'] = (request) => {
      if (!silent) request.answer(methods.multi, groupAnswer(true));
      silent = false;
    };
    const lost = client.mutateRows(table, [group]);
    await reached(() => !silent);
    await clock.advance(500);
    await write(client);
    expect((await settled(lost, 100))[0]).toMatchObject({ kind: 'unknown' });
    expect(await write(client)).toEqual({ kind: 'done' });
    expect(server.sockets.length).toBe(2);
  });
});

describe('a read', () => {
  it.each<[string, (request: Request) => void]>([
    ['a region that moves', (request) => request.fail('a.NotServingRegionException')],
    ['an exception that nobody knows', (request) => request.fail('java.io.IOException')],
    ['a connection that is cut', ({ socket }) => void socket.destroy()],
    ['no answer', () => {}],
    ['nonsense', (request) => request.say(Buffer.from([255, 255, 255, 255]))],
  ])('is repeated after %s', async (_, script) => {
    const client = connect();
    server.script['Get'] = (request) => {
      if (server.count('Get') === 1) script(request);
      else request.answer(methods.get, { result: { cell: [{ row, family: row, qualifier: row, value: row }] } });
    };
    const found = await settled(client.get(table, row), 10);
    expect(found?.cells).toEqual([{ family: row, qualifier: row, timestamp: 0, value: row }]);
    expect(server.count('Get')).toBe(2);
  });

  it('of many rows asks again for the rest of an answer that grew too large', async () => {
    const client = connect();
    const rows = ['a', 'b', 'c'].map((name) => Buffer.from(name));
    server.script['Multi'] = (request) => {
      const exception = { name: 'org.apache.hadoop.hbase.MultiActionResultTooLarge', value: Buffer.from('x') };
      const [first, ...rest] = rows.slice(server.count('Multi') - 1);
      const resultOrException = [
        { index: 0, result: { cell: [{ row: first!, value: first! }] } },
        ...rest.map((_, index) => ({ index: index + 1, exception })),
      ];
      request.answer(methods.multi, { regionActionResult: [{ resultOrException }] });
    };
    const found = await settled(client.getMany(table, rows));
    expect(found.map((one) => one?.row.toString())).toEqual(['a', 'b', 'c']);
    expect(server.count('Multi')).toBe(3);
  });

  it('that fails to the end says why', async () => {
    server.script['Get'] = (request) => request.fail('java.io.IOException', { message: 'no disk' });
    await expect(settled(connect().get(table, row), 100)).rejects.toMatchObject({
      name: 'HBaseFailure',
      kind: 'unavailable',
      message: 'a read of table "t": java.io.IOException: no disk',
    });
  });
});

describe('a scan', () => {
  it.each(['UnknownScannerException', 'OutOfOrderScannerNextException', 'a.LeaseException'])(
    'goes on behind its last row after %s',
    async (className) => {
      const catalogue = server.catalogue(table)['Scan']!;
      const names = ['a', 'b', 'c'];
      let scans = 0;
      server.script['Scan'] = (request) => {
        scans += 1;
        if (scans === 1) return catalogue(request);
        if (scans === 3) return request.fail(className, { doNotRetry: true });
        const [name, ...rest] = scans === 2 ? names : names.slice(scans - 3);
        request.answer(methods.scan, {
          scannerId: 1n,
          ttl: 60_000,
          moreResults: true,
          moreResultsInRegion: rest.length > 0,
          results: [{ cell: [{ row: Buffer.from(name!), value: row }] }],
        });
      };
      const scanner = connect().scan(table, { startRow: Buffer.alloc(0), stopRow: Buffer.alloc(0) });
      const seen: string[] = [];
      for (;;) {
        const rows = await settled(scanner.next(), 10);
        if (rows.length === 0) break;
        seen.push(...rows.map((found) => found.row.toString()));
      }
      expect([seen, scanner.restarts]).toEqual([names, 1]);
    },
  );

  it('keeps its lease alive between batches, until it is closed', async () => {
    const catalogue = server.catalogue(table)['Scan']!;
    server.script['Scan'] = (request) =>
      server.count('Scan') === 1
        ? catalogue(request)
        : request.answer(methods.scan, {
            scannerId: 1n,
            ttl: 3_000,
            moreResults: true,
            moreResultsInRegion: true,
            results: [{ cell: [{ row, value: row }] }],
          });
    const scanner = connect().scan(table, { startRow: Buffer.alloc(0), stopRow: Buffer.alloc(0) });
    await settled(scanner.next());
    const before = server.count('Scan');
    const beganMs = clock.monotonicMs();
    while (server.count('Scan') < before + 3) await clock.advance(50);
    expect(clock.monotonicMs() - beganMs).toBeGreaterThanOrEqual(3_000);
    await settled(scanner.close());
    const after = server.count('Scan');
    await clock.advance(10_000);
    expect(server.count('Scan')).toBe(after);
  });
});

describe('options', () => {
  it('that cannot be are refused with their name', () => {
    expect(() => connectHBase({ addresses: [] })).toThrow('"addresses" of HBase has 0 entries; 1 to 64 are allowed');
    expect(() => connectHBase({ addresses: ['host'] })).toThrow(
      '"addresses" of HBase has "host"; host:port is allowed',
    );
    expect(() => connectHBase({ addresses: ['h:70000'] })).toThrow('has "h:70000"');
    expect(() => connect({ maxInFlight: 0 })).toThrow('"maxInFlight" of HBase is 0; integers from 1 are allowed');
  });
});

// A header for the request, then a message that says it is longer than it is.
function malformedMessage(request: Request): void {
  const header = Buffer.from([8, request.header.callId]);
  const message = Buffer.from([0x0a, 0x7f, 1]);
  request.say(Buffer.from([0, 0, 0, 7, header.length, ...header, message.length, ...message]));
}

it('a server is reached where it is said to be', async () => {
  server.script['Multi'] = (request) => request.answer(methods.multi, groupAnswer(true));
  const said = 'hbase-1.invalid:16020';
  const client = connect({ addresses: [said], via: new Map([[said, server.address]]) });
  expect(await write(client)).toEqual({ kind: 'done' });
});
