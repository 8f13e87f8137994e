// Against a server of the DNS on this machine.

import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { dnsResolver } from './name-resolver.ts';

const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const [noError, serverFailure, noSuchName] = [0, 2, 3];
const types = { a: 1, aaaa: 28 };

interface Zone {
  /** Seconds. */
  readonly ttl?: number;
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  readonly codeOfA?: number;
  readonly codeOfAaaa?: number;
}

/** Answers every name alike. Gives its `IP:port`. */
async function serve(zone: Zone): Promise<string> {
  const socket = createSocket('udp4');
  closers.push(() => socket.close());
  socket.on('message', (query, { port, address }) => socket.send(answer(query, zone), port, address));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return `127.0.0.1:${socket.address().port}`;
}

function answer(query: Buffer, { ttl = 60, a = [], aaaa = [], codeOfA = noError, codeOfAaaa = noError }: Zone): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const type = query.readUInt16BE(end - 4);
  const ips = type === types.a ? a : aaaa;
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (type === types.a ? codeOfA : codeOfAaaa), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(ips.length, 6);
  const records = ips.map((ip) => {
    const bytes = isIPv4(ip) ? Buffer.from(ip.split('.').map(Number)) : sixBytes(ip);
    const record = Buffer.alloc(12);
    // The name of the question, by its place.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttl, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}

/** Of `fd00::x`. */
function sixBytes(ip: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xfd00, 0);
  bytes.writeUInt16BE(Number.parseInt(ip.slice('fd00::'.length), 16), 14);
  return bytes;
}

const resolve = async (zone: Zone) =>
  dnsResolver({ servers: [await serve(zone)], timeoutMs: 500 }).resolve('m.internal');

describe('the resolver', () => {
  it('answers the addresses of both families, for as long as the shortest is vouched for', async () => {
    expect(await resolve({ a: ['10.0.0.1', '10.0.0.2'], aaaa: ['fd00::7'], ttl: 5 })).toEqual({
      kind: 'resolved',
      ips: ['10.0.0.1', '10.0.0.2', 'fd00::7'],
      ttlMs: 5_000,
    });
    expect(await resolve({ a: ['10.0.0.1'] })).toMatchObject({ kind: 'resolved', ips: ['10.0.0.1'] });
    expect(await resolve({ aaaa: ['fd00::7'], codeOfA: noSuchName })).toMatchObject({ ips: ['fd00::7'] });
  });

  it('tells none from not knowing, also for one family', async () => {
    expect(await resolve({})).toEqual({ kind: 'none' });
    expect(await resolve({ codeOfA: noSuchName, codeOfAaaa: noSuchName })).toEqual({ kind: 'none' });
    expect(await resolve({ codeOfA: serverFailure, codeOfAaaa: serverFailure })).toMatchObject({ kind: 'failed' });
    expect(await resolve({ a: ['10.0.0.1'], codeOfAaaa: serverFailure })).toMatchObject({ kind: 'failed' });
  });

  it('gives up on a server that is silent', async () => {
    const socket = createSocket('udp4');
    closers.push(() => socket.close());
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const silent = dnsResolver({ servers: [`127.0.0.1:${socket.address().port}`], timeoutMs: 50 });
    expect(await silent.resolve('m.internal')).toMatchObject({ kind: 'failed' });
  });
});
