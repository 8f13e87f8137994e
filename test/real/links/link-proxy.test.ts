import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LinkProxy } from './link-proxy.ts';

let echo: Server;
let proxy: LinkProxy;

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const bound = echo.address();
  proxy = await LinkProxy.open({ port: 0, target: `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}` });
});

afterEach(async () => {
  await proxy.close();
  await new Promise((resolve) => echo.close(resolve));
});

class Caller {
  readonly #socket: Socket;
  readonly closed: Promise<void>;
  #heard = '';
  #listener: () => void = () => {};

  constructor() {
    this.#socket = connect({ port: Number(proxy.address.split(':')[1]) });
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.on('data', (chunk: Buffer) => {
      this.#heard += chunk.toString();
      this.#listener();
    });
  }

  say(text: string): void {
    this.#socket.write(text);
  }

  until(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#listener = () => {
        if (this.#heard === text) resolve();
      };
      this.#listener();
    });
  }

  get heard(): string {
    return this.#heard;
  }
}

describe('a link proxy', () => {
  it('passes both ways', async () => {
    const caller = new Caller();
    caller.say('hello');
    await caller.until('hello');
  });

  it('cuts what is open, and lets new ones through', async () => {
    const first = new Caller();
    first.say('a');
    await first.until('a');
    proxy.cut();
    await first.closed;
    const second = new Caller();
    second.say('b');
    await second.until('b');
  });

  it('severs: nothing gets through before it is healed', async () => {
    proxy.sever();
    await new Caller().closed;
    proxy.heal();
    const caller = new Caller();
    caller.say('c');
    await caller.until('c');
  });

  it('half-closes: what is answered is lost, and the connection stays open until it is healed', async () => {
    const caller = new Caller();
    caller.say('1');
    await caller.until('1');
    proxy.halfClose();
    caller.say('2');
    const beside = new Promise((resolve) => echo.once('connection', resolve));
    const other = new Caller();
    other.say('3');
    await beside;
    proxy.heal();
    await Promise.all([caller.closed, other.closed]);
    expect([caller.heard, other.heard]).toEqual(['1', '']);
  });

  it('delays, and nothing overtakes what was delayed', async () => {
    const caller = new Caller();
    proxy.delay(20);
    caller.say('x');
    await new Promise((resolve) => setImmediate(resolve));
    proxy.heal();
    caller.say('y');
    await caller.until('xy');
  });
});
