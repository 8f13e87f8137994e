// A ZooKeeper session that outlives its connections, and is replaced when it is over.
//
// Ownership: it owns the present connection and all its timers. Adapters ask through it, and hear of what happens through `listen`; what
// they keep on the servers (ephemeral nodes) or want to hear of (watches) they establish again after each `connected`.
//
// Invariants:
//   Z1  At most one connection at a time; between two there is a pause.
//   Z2  `isLeased` is true only before `sent + 2/3 of the session timeout` of a heartbeat that succeeded, by the monotonic clock. A
//       heartbeat is a transaction, so that the leader and a majority have seen it: a read may be answered by a server that has lost
//       them. The last third covers that the leader hears of a session's life with a delay, of half a tick (a quarter of the
//       shortest session) at most.
//   Z3  A connection on which nothing was answered for 2/3 of the session timeout is dropped: a frozen server closes nothing.
//   Z4  A request that was answered `maybeDone` is decided once a later one of the same session was answered: a server handles the
//       requests of a connection in order, and takes none from a connection that the session has left.

import type { Client, Exception, Stat } from 'node-zookeeper-client';
import type { Clock, Timer } from '../../clock/clock.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { type Answer, done, problemOf, unavailable } from './answer.ts';
import { Connection, type SessionIdentity } from './connection.ts';
import { Lease } from './lease.ts';
import { addOperation, type Node, type NodeStat, type Operation, statOf } from './node.ts';
import { Places } from './places.ts';
import { checkPlace, type ZooKeeperPlace } from './servers.ts';

export interface ZooKeeperSessionOptions extends ZooKeeperPlace {
  /**
   * In ms, 6,000 by default: after this long without a sign of life the servers let go of what the process holds. The servers allow 2
   * to 20 of their ticks and say what it becomes.
   */
  readonly sessionTimeoutMs?: number;
  /** Time for one answer in ms, 5,000 by default: with a live connection an answer takes milliseconds. */
  readonly operationTimeoutMs?: number;
  readonly clock?: Clock;
  /** Uniform in [0, 1): spreads reconnects. */
  readonly random?: () => number;
}

export type SessionEvent =
  /** Requests can be made. `session` differs from the one before when that is over: its ephemeral nodes are gone or going. */
  | { readonly kind: 'connected' }
  | { readonly kind: 'disconnected' }
  /** `isLeased` has changed. */
  | { readonly kind: 'lease' };

type Callback<T> = (error: Error | Exception | null, value: T) => void;

const limits = {
  /** Requests out at once: beyond it a server (limit 1,000 for all) would be crowded by one process. */
  maxInFlight: 64,
  /** Requests that wait for their turn. */
  maxWaiting: 10_000,
  /** Pause before a reconnect: at least, and at most after failures. In ms. */
  firstPauseMs: 100,
  maxPauseMs: 1_000,
  /** Time for a connect, in ms: a server that is starting may accept and say nothing. */
  maxConnectMs: 3_000,
  /** No server grants more, in ms: what says so isn't one, and would never be found silent (Z3). */
  maxTimeoutMs: 600_000,
  /** Time for the end of a session to be confirmed, in ms. */
  closeMs: 2_000,
} as const;

export class ZooKeeperSession {
  readonly root: string;
  readonly clock: Clock;
  readonly operationTimeoutMs: number;
  readonly #servers: readonly string[];
  readonly #random: () => number;
  readonly #askedTimeoutMs: number;
  readonly #listeners = new Set<(event: SessionEvent) => void>();

  #connection: Connection | undefined;
  #isConnected = false;
  #isClosing = false;
  #onClosed: (() => void) | undefined;
  #nextServer: number;
  #failures = 0;
  #pause: Timer | undefined;
  #identity: SessionIdentity | undefined;
  #timeoutMs: number;
  #seen: Buffer | undefined;
  #awaySinceMs: number;

  #answeredMs = 0;
  #isBeating = false;
  readonly #lease: Lease;
  readonly #places = new Places(limits.maxInFlight, limits.maxWaiting);

  /** Begins to connect at once, and goes on for as long as it takes. Throws a RangeError for a place that can't be. */
  constructor(options: ZooKeeperSessionOptions) {
    checkPlace(options);
    this.root = options.root;
    this.#servers = options.servers;
    this.clock = options.clock ?? systemClock;
    this.#lease = new Lease(this.clock, () => this.#tell({ kind: 'lease' }));
    this.#random = options.random ?? Math.random;
    this.#askedTimeoutMs = options.sessionTimeoutMs ?? 6_000;
    this.#timeoutMs = this.#askedTimeoutMs;
    this.operationTimeoutMs = options.operationTimeoutMs ?? 5_000;
    this.#nextServer = Math.floor(this.#random() * this.#servers.length);
    this.#awaySinceMs = this.clock.monotonicMs();
    this.#connect();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Names the session; another one after it was over. undefined before the first and between two. */
  get session(): string | undefined {
    return this.#identity?.id.toString('hex');
  }

  /** Whoever knows it can take the session over. Not for logs. */
  get identity(): SessionIdentity | undefined {
    return this.#identity;
  }

  /** As the servers have granted it, in ms. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** When a server last answered anything, on the monotonic clock in ms. */
  get answeredMs(): number {
    return this.#answeredMs;
  }

  /** The session surely exists, so that nobody else sees what it holds gone (Z2). */
  get isLeased(): boolean {
    return this.#lease.holds;
  }

  listen(listener: (event: SessionEvent) => void): () => void {
    const own = (event: SessionEvent) => listener(event);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Resolves with true when connected, with false when that takes longer than `withinMs`. */
  connected(withinMs: number): Promise<boolean> {
    if (this.#isConnected || this.#isClosing) return Promise.resolve(this.#isConnected);
    return new Promise((resolve) => {
      const finish = () => {
        timer.cancel();
        stop();
        resolve(this.#isConnected);
      };
      const timer = this.clock.after(withinMs, finish);
      const stop = this.listen(({ kind }) => kind === 'connected' && finish());
    });
  }

  /** `onChange` is called once, after the next change of the data or the node's end, unless the connection is lost before. */
  read(path: string, onChange?: () => void): Promise<Answer<Node>> {
    return this.#ask((client, answer) => {
      const take = (error: Error | Exception | null, data: Buffer | undefined, stat: Stat) =>
        answer(error, error ? undefined : { data: new Uint8Array(data ?? []), stat: statOf(stat) });
      if (onChange) client.getData(this.root + path, onChange, take);
      else client.getData(this.root + path, take);
    });
  }

  /** Names below a node, in no order. `onChange`: as with `read`, for the set of names. */
  children(path: string, onChange?: () => void): Promise<Answer<{ names: readonly string[]; stat: NodeStat }>> {
    return this.#ask((client, answer) => {
      const take = (error: Error | Exception | null, names: string[], stat: Stat) =>
        answer(error, error ? undefined : { names, stat: statOf(stat) });
      if (onChange) client.getChildren(this.root + path, onChange, take);
      else client.getChildren(this.root + path, take);
    });
  }

  /** By compare-and-set; here version 0 is compared too, other than in `change`. */
  write(path: string, data: Uint8Array, version: number): Promise<Answer<NodeStat>> {
    return this.#ask((client, answer) => {
      client.setData(this.root + path, Buffer.from(data), version, (error, stat) =>
        answer(error, error ? undefined : statOf(stat)),
      );
    });
  }

  /** All or nothing. The problem is that of the first operation that can't be done. */
  change(operations: readonly Operation[]): Promise<Answer<undefined>> {
    return this.#ask((client, answer) => {
      const transaction = client.transaction();
      for (const operation of operations) addOperation(transaction, this.root, operation);
      transaction.commit((error) => answer(error, undefined));
    });
  }

  /** After it reads show all that anybody was told to be done before, and what came to nothing stays so (Z4). */
  sync(): Promise<Answer<undefined>> {
    return this.#ask((client, answer) =>
      client
        .transaction()
        .check('/')
        .commit((error) => answer(error, undefined)),
    );
  }

  /** Makes a node, and those above it, where there is none. */
  async ensure(path: string): Promise<Answer<undefined>> {
    const parts = (this.root + path).split('/').slice(1);
    for (let count = 1; count <= parts.length; count++) {
      const answer = await this.#ask<undefined>((client, reply) =>
        client.create(`/${parts.slice(0, count).join('/')}`, (error) => reply(error, undefined)),
      );
      if (answer.kind !== 'done' && answer.kind !== 'exists') return answer;
    }
    return done(undefined);
  }

  /** Ends the session, and with it what it holds, where a server can be reached; else its timeout does. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#pause?.cancel();
    const connection = this.#connection;
    if (!connection) return;
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      if (!this.#isConnected) return connection.destroy('closed');
      connection.endSession();
      this.clock.after(limits.closeMs, () => connection.destroy('the end of the session was not confirmed'));
    });
  }

  #connect(): void {
    // The servers have forgotten the session by then, or have been away themselves. If they were set back meanwhile, none of them would
    // take a client that has seen more than they know: it begins anew.
    if (this.clock.monotonicMs() - this.#awaySinceMs > 2 * this.#timeoutMs) {
      this.#identity = undefined;
      this.#seen = undefined;
    }
    const server = this.#servers[this.#nextServer++ % this.#servers.length] ?? '';
    const connectMs = Math.min(limits.maxConnectMs, this.#askedTimeoutMs / 2);
    const deadline = this.clock.after(connectMs, () => connection.destroy('no answer to the connect'));
    const options = {
      server,
      sessionTimeoutMs: this.#askedTimeoutMs,
      identity: this.#identity,
      seen: this.#seen,
    };
    const connection = new Connection(options, {
      connected: () => {
        deadline.cancel();
        this.#connected(connection);
      },
      expired: () => this.#expired(),
      closed: () => {
        deadline.cancel();
        this.#closed(connection);
      },
    });
    this.#connection = connection;
  }

  #connected(connection: Connection): void {
    if (connection.sessionTimeoutMs > limits.maxTimeoutMs) return connection.destroy('not a ZooKeeper server');
    this.#identity = connection.identity;
    this.#timeoutMs = connection.sessionTimeoutMs;
    this.#answeredMs = this.clock.monotonicMs();
    this.#isBeating = false;
    if (this.#isClosing) return connection.endSession();
    this.#isConnected = true;
    this.#tell({ kind: 'connected' });
    this.#beat(connection);
  }

  #expired(): void {
    this.#identity = undefined;
    this.#lease.end();
  }

  #closed(connection: Connection): void {
    const seen = connection.seen;
    // Some refusals carry no transaction, which reads as −1.
    if ((seen[0] ?? 0) < 0x80) this.#seen = seen;
    this.#connection = undefined;
    if (this.#isConnected) {
      this.#isConnected = false;
      this.#awaySinceMs = this.clock.monotonicMs();
      this.#tell({ kind: 'disconnected' });
    }
    if (this.#isClosing) return this.#onClosed?.();
    const pauseMs = Math.min(limits.maxPauseMs, limits.firstPauseMs * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#pause = this.clock.after(pauseMs * (1 + this.#random()) * 0.5 + limits.firstPauseMs / 2, () =>
      this.#connect(),
    );
  }

  #beat(connection: Connection): void {
    // Answers that lie in the socket since the process was held up are read first: they are signs of life.
    this.clock.soon(() => {
      if (this.#connection !== connection) return;
      if (this.clock.monotonicMs() - this.#answeredMs > (this.#timeoutMs * 2) / 3) {
        return connection.destroy('no sign of life');
      }
      this.#prolong(connection);
      this.clock.after(this.#timeoutMs / 6, () => this.#beat(connection));
    });
  }

  #prolong(connection: Connection): void {
    if (this.#isBeating || this.#isClosing) return;
    this.#isBeating = true;
    const sentMs = this.clock.monotonicMs();
    // Past the queue: a heartbeat isn't to wait for other requests.
    const heartbeat = connection.client.transaction().check('/');
    heartbeat.commit((error) => {
      if (this.#connection !== connection) return;
      this.#isBeating = false;
      if (error && problemOf(error).kind === 'unavailable') return;
      this.#answeredMs = this.clock.monotonicMs();
      if (error) return;
      this.#failures = 0;
      this.#lease.prolong(sentMs + (this.#timeoutMs * 2) / 3);
    });
  }

  async #ask<T>(send: (client: Client, answer: Callback<T | undefined>) => void): Promise<Answer<T>> {
    if (!(await this.#places.take())) return unavailable('too many requests wait');
    try {
      const connection = this.#connection;
      if (!connection || !this.#isConnected || this.#isClosing) return unavailable('not connected to ZooKeeper');
      return await this.#send(connection, send);
    } finally {
      this.#places.give();
    }
  }

  #send<T>(
    connection: Connection,
    send: (client: Client, answer: Callback<T | undefined>) => void,
  ): Promise<Answer<T>> {
    return new Promise((resolve) => {
      const late = unavailable(`no answer within ${this.operationTimeoutMs} ms`, true);
      const timer = this.clock.after(this.operationTimeoutMs, () => resolve(late));
      send(connection.client, (error, value) => {
        timer.cancel();
        const answer = error ? problemOf(error) : done(value as T);
        if (answer.kind !== 'unavailable' && this.#connection === connection)
          this.#answeredMs = this.clock.monotonicMs();
        resolve(answer);
      });
    });
  }

  #tell(event: SessionEvent): void {
    // A copy: a listener may take itself away.
    for (const listener of [...this.#listeners]) listener(event);
  }
}
