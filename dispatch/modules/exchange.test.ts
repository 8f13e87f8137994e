// Where a call broke, seen through servers that break it at the level of HTTP/2.

import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { Channel } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../flow/event.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { openChannel } from './channel.ts';
import { Exchange } from './exchange.ts';
import { freePort } from './free-port.ts';

const closers: Array<() => void> = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listen(server: Http2Server | Server): Promise<number> {
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return port;
}

/**
 * Opens a channel to a server of bare frames, for what node:http2 doesn't do. `treat` gets the socket when the request has
 * come completely.
 */
async function againstFrames(treat: (socket: Socket) => void): Promise<Channel> {
  const server = createTcpServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.write(frame(settings, 0));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (received.length < preface.length) return;
      let offset = preface.length;
      while (received.length >= offset + 9) {
        const length = received.readUIntBE(offset, 3);
        if (received.length < offset + 9 + length) break;
        const [type = 0, flags = 0] = received.subarray(offset + 3, offset + 5);
        if (type === settings && (flags & 1) === 0) socket.write(frame(settings, 1));
        if (type === 0 && (flags & 1) === 1) treat(socket);
        offset += 9 + length;
      }
      received = Buffer.concat([preface, received.subarray(offset)]);
    });
    closers.push(() => socket.destroy());
  });
  const channel = openChannel(`ipv4:127.0.0.1:${await listen(server)}`);
  closers.push(() => {
    channel.close();
    server.close();
  });
  return channel;
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const settings = 4;
const goAway = 7;

/** A frame of the connection itself. */
function frame(type: number, flags: number, payload = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.set([type, flags], 3);
  return Buffer.concat([header, payload]);
}

/** Opens a channel to a server that treats each request in this way, once the request has come completely. */
async function against(treat: (stream: ServerHttp2Stream, session: ServerHttp2Session) => void): Promise<Channel> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.resume().once('end', () => {
      if (stream.session) treat(stream, stream.session as ServerHttp2Session);
    });
  });
  const port = await listen(server);
  const channel = openChannel(`ipv4:127.0.0.1:${port}`);
  closers.push(() => {
    channel.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  return channel;
}

function exchange(channel: Channel, { timeoutMs = 5_000, requestBytes = 10 } = {}): Promise<Answer> {
  return new Promise((resolve) => {
    new Exchange(channel, Buffer.from('key'), resolve).start(Buffer.alloc(requestBytes), timeoutMs);
  });
}

const grpc = { ':status': 200, 'content-type': 'application/grpc' };

describe('an exchange that breaks', () => {
  it.each<[string, keyof typeof Ending, (stream: ServerHttp2Stream, session: ServerHttp2Session) => void]>([
    ['stream refused', 'UNREACHABLE', (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
    [
      'going away with this stream, then closed',
      'LOST',
      (stream, session) => {
        session.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
        setImmediate(() => session.destroy());
      },
    ],
    ['connection destroyed', 'LOST', (_, session) => session.destroy()],
    ['connection reset', 'LOST', (_, session) => session.destroy(undefined, constants.NGHTTP2_INTERNAL_ERROR)],
    ['stream cancelled', 'LOST', (stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['stream reset', 'LOST', (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
    ['stream closed without a word', 'LOST', (stream) => stream.close(constants.NGHTTP2_NO_ERROR)],
    [
      'cut within the answer',
      'LOST',
      (stream, session) => {
        stream.respond(grpc);
        stream.write(Buffer.from([0, 0, 0, 0, 9, 1]), () => session.destroy());
      },
    ],
    [
      'answered as a web server',
      'FAILED',
      (stream) => {
        stream.respond({ ':status': 503, 'content-type': 'text/html' });
        stream.end('<html>');
      },
    ],
    [
      'answered UNAVAILABLE',
      'FAILED',
      (stream) => {
        stream.respond({ ...grpc, 'grpc-status': '14', 'grpc-message': 'Connection dropped' }, { endStream: true });
      },
    ],
    [
      'ended without a status',
      'LOST',
      (stream) => {
        stream.respond(grpc);
        stream.end();
      },
    ],
  ])('%s: %s', async (_, expected, treat) => {
    expect(Ending[(await exchange(await against(treat))).ending]).toBe(expected);
  });

  it.each<[string, keyof typeof Ending, (socket: Socket) => void]>([
    // The last stream that was or will be processed is 0: none.
    ['going away before this stream', 'UNREACHABLE', (socket) => socket.write(frame(goAway, 0, Buffer.alloc(8)))],
    ['connection ended', 'LOST', (socket) => socket.end()],
    ['connection reset', 'LOST', (socket) => socket.resetAndDestroy()],
    ['no HTTP/2', 'LOST', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s: %s', async (_, expected, treat) => {
    expect(Ending[(await exchange(await againstFrames(treat))).ending]).toBe(expected);
  });

  it('nobody listens', async () => {
    const channel = openChannel(`ipv4:127.0.0.1:${await freePort()}`);
    closers.push(() => channel.close());
    const { ending, message } = await exchange(channel);
    expect(Ending[ending]).toBe('UNREACHABLE');
    expect(message).toContain('ECONNREFUSED');
  });

  it('a server that takes connections and never speaks: nothing was sent', async () => {
    const server = createTcpServer((socket) => closers.push(() => socket.destroy()));
    const port = await listen(server);
    const channel = openChannel(`ipv4:127.0.0.1:${port}`);
    closers.push(() => {
      channel.close();
      server.close();
    });
    expect(Ending[(await exchange(channel, { timeoutMs: 100 })).ending]).toBe('UNREACHABLE');
  });

  it('a server that takes the request and never answers: timed out', async () => {
    const channel = await against(() => {});
    expect(Ending[(await exchange(channel, { timeoutMs: 100 })).ending]).toBe('TIMED_OUT');
  });

  it('a request whose bytes are still on their way counts as sent', async () => {
    // The server reads nothing, so that flow control holds most of the request here.
    const server = createServer();
    server.on('session', (session) => session.on('error', () => {}));
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      stream.session?.destroy();
    });
    const port = await listen(server);
    const channel = openChannel(`ipv4:127.0.0.1:${port}`);
    closers.push(() => {
      channel.close();
      server.close();
    });
    expect(Ending[(await exchange(channel, { requestBytes: 4_000_000 })).ending]).toBe('LOST');
  });

  it('tells nothing after a cancel', async () => {
    let told = 0;
    const cancelled = new Promise((resolve) => {
      void against((stream) => stream.once('close', resolve)).then((channel) => {
        const out = new Exchange(channel, Buffer.from('key'), () => told++);
        out.start(Buffer.alloc(1), 5_000);
        void exchange(channel, { timeoutMs: 100 }).then(() => out.cancel());
      });
    });
    await cancelled;
    expect(told).toBe(0);
  });
});
