// A TCP proxy in front of a server, by which the way to it is cut, slowed down and half-closed.
//
// Owns the pairs of sockets that pass through it.

import { connect, createServer, type Server, type Socket } from 'node:net';

export interface LinkProxyOptions {
  /** Port of 127.0.0.1 to listen on; 0 takes a free one. */
  readonly port: number;
  /** `host:port` of the server. */
  readonly target: string;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

export class LinkProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #mode: 'open' | 'refusing' | 'swallowing' = 'open';
  #delayMs = 0;
  #address = '';

  private constructor({ target }: LinkProxyOptions) {
    const colon = target.lastIndexOf(':');
    this.#target = { host: target.slice(0, colon), port: Number(target.slice(colon + 1)) };
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near));
  }

  static async open(options: LinkProxyOptions): Promise<LinkProxy> {
    const proxy = new LinkProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(options.port, '127.0.0.1', resolve);
    });
    const bound = proxy.#server.address();
    proxy.#address = `127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
    return proxy;
  }

  /** `host:port` */
  get address(): string {
    return this.#address;
  }

  /** Breaks every connection. New ones are accepted, unless the link is `severed`. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** From now on: breaks connections and takes no new ones. */
  sever(): void {
    this.#mode = 'refusing';
    this.cut();
  }

  /** From now on, what comes from the server gets lost: connections stay open, and nobody answers. */
  halfClose(): void {
    this.#mode = 'swallowing';
  }

  /** From now on, everything takes so much longer, each way. */
  delay(durationMs: number): void {
    this.#delayMs = durationMs;
  }

  /** Works again. What was swallowed is gone for good, so connections that lost something are broken. */
  heal(): void {
    if (this.#mode === 'swallowing') this.cut();
    this.#mode = 'open';
    this.#delayMs = 0;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(near: Socket): void {
    if (this.#mode === 'refusing') return void near.resetAndDestroy();
    const far = connect({ ...this.#target, allowHalfOpen: true });
    const pair = { near, far };
    this.#pairs.add(pair);
    const over = (): void => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    this.#pass(near, far, () => false);
    this.#pass(far, near, () => this.#mode === 'swallowing');
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', over);
      socket.on('close', over);
    }
  }

  #pass(from: Socket, to: Socket, isSwallowed: () => boolean): void {
    let lastMs = 0;
    // Nothing overtakes what was delayed before it.
    const later = (action: () => void): void => {
      const nowMs = performance.now();
      lastMs = Math.max(lastMs, nowMs + this.#delayMs);
      if (lastMs <= nowMs) action();
      else setTimeout(action, lastMs - nowMs).unref();
    };
    from.on('data', (chunk: Buffer) => {
      if (isSwallowed()) return;
      later(() => {
        if (!to.destroyed && !to.write(chunk)) from.pause();
      });
    });
    to.on('drain', () => from.resume());
    from.on('end', () => later(() => to.end()));
  }
}
