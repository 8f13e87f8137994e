// One TCP connection to one ZooKeeper server, over one client object of node-zookeeper-client. The only file that touches inner parts
// of that library, because its public API can neither say that a connect failed, nor drop a connection, nor leave reconnecting to its
// caller. Left to itself it reconnects with the half of a packet that the old connection received, and sends requests whose callers
// have long given up. So a client serves one connection, and the next one takes the session over by its id and password.
//
// Ownership: ZooKeeperSession makes connections and ends them; nobody else holds one.
//
// Invariants:
//   N1  `closed` is told exactly once, last, and every request that was given to the client is answered before it.
//   N2  Nothing that a server sends can throw into the event loop: what the library can't read closes the connection.

import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { type Client, createClient } from 'node-zookeeper-client';

/** What a session is taken over with. */
export interface SessionIdentity {
  /** 8 bytes. */
  readonly id: Buffer;
  /** 16 bytes. */
  readonly password: Buffer;
}

export interface ConnectionOptions {
  /** `host:port` */
  readonly server: string;
  readonly sessionTimeoutMs: number;
  /** The session to go on with; absent: a new one. */
  readonly identity: SessionIdentity | undefined;
  /** The newest transaction that was seen, 8 bytes: a server that is behind it refuses the connection. */
  readonly seen: Buffer | undefined;
}

export interface ConnectionEvents {
  /** The server has given or confirmed the session. */
  connected(): void;
  /** The session to go on with is over. */
  expired(): void;
  closed(): void;
}

/** The parts of the library's connection manager that are used here. */
interface Manager extends EventEmitter {
  connect: () => void;
  onSocketData: (data: Buffer) => void;
  readonly socket: Socket | undefined;
  readonly packetQueue: { shift(): { callback?: (error: Error) => void } | undefined };
  zxid: Buffer;
}

/** States of the connection manager, as it emits them. */
const managerState = { disconnected: 0, connected: 2, expired: -3 } as const;

export class Connection {
  readonly client: Client;
  readonly #manager: Manager;
  readonly #events: ConnectionEvents;
  #isClosed = false;

  constructor({ server, sessionTimeoutMs, identity, seen }: ConnectionOptions, events: ConnectionEvents) {
    this.#events = events;
    const options = {
      sessionTimeout: sessionTimeoutMs,
      retries: 0,
      ...(identity && { sessionId: identity.id, sessionPassword: identity.password }),
    };
    this.client = createClient(server, options);
    this.#manager = (this.client as unknown as { connectionManager: Manager }).connectionManager;
    if (seen) this.#manager.zxid = seen;
    this.#guardReading();
    this.#manager.on('state', (state: number) => this.#changed(state));
    this.client.connect();
    // What the library calls when a connection is lost.
    this.#manager.connect = () => {};
  }

  get identity(): SessionIdentity {
    return { id: this.client.getSessionId(), password: this.client.getSessionPassword() };
  }

  /** As negotiated with the server, once connected. */
  get sessionTimeoutMs(): number {
    return this.client.getSessionTimeout();
  }

  get seen(): Buffer {
    return this.#manager.zxid;
  }

  /** Drops the connection; the session goes on until its timeout. */
  destroy(why: string): void {
    // The library makes its socket a moment after it was asked to connect. With an error it also clears its own timer.
    const { socket } = this.#manager;
    if (socket) socket.destroy(new Error(why));
    else if (!this.#isClosed) setImmediate(() => this.destroy(why));
  }

  /** Ends the session, then closes. */
  endSession(): void {
    this.client.close();
  }

  #guardReading(): void {
    const read = this.#manager.onSocketData.bind(this.#manager);
    this.#manager.onSocketData = (data) => {
      try {
        read(data);
      } catch (error) {
        this.destroy(`unreadable: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
  }

  #changed(state: number): void {
    if (this.#isClosed) return;
    if (state === managerState.connected) this.#events.connected();
    if (state === managerState.expired) {
      this.#events.expired();
      this.destroy('the session is over');
    }
    if (state !== managerState.disconnected) return;
    this.#isClosed = true;
    // Requests that were not even sent: the library would keep them for a connection that never comes.
    const queue = this.#manager.packetQueue;
    for (let packet = queue.shift(); packet; packet = queue.shift()) packet.callback?.(new Error('connection lost'));
    this.#events.closed();
  }
}
