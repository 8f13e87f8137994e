// The connections of one client: at most one per server and service, made when first needed and made again when it is lost.
//
// It owns the connections and the pauses before new ones.
// N1  After a connection that gave no answer the next one waits, longer each time: calls meanwhile are notSent at once.
// N2  After close() no connection is made.

import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Clock } from '../../../platform/clock/clock.ts';
import { pauseMs } from './back-off.ts';
import { Connection, type ConnectionLimits, type Outcome } from './connection.ts';
import type { Method } from './methods.ts';

export interface ConnectionsOptions extends ConnectionLimits {
  readonly user: string;
  /** Where a server is reached, by the address that it says of itself; one that isn't there is reached at that. */
  readonly via: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Link {
  readonly connection: Connection;
  /** Connections without an answer, in a row. */
  failures: number;
  notBeforeMs: number;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #links = new Map<string, Link>();
  #closed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls a method at the server at `address`. Ends within `timeoutMs`, never rejects. */
  call<I extends DescMessage, O extends DescMessage>(
    address: string,
    method: Method<I, O>,
    request: MessageInitShape<I>,
    timeoutMs: number,
  ): Promise<Outcome<MessageShape<O>>> {
    if (this.#closed) return Promise.resolve({ kind: 'notSent', cause: 'the HBase client is closed' });
    if (timeoutMs <= 0) return Promise.resolve({ kind: 'notSent', cause: `no time left to call ${address}` });
    const key = `${method.service} ${address}`;
    const link = this.#links.get(key);
    if (link !== undefined && !link.connection.closed) return link.connection.call(method, request, timeoutMs);
    if (link !== undefined && this.#options.clock.monotonicMs() < link.notBeforeMs) {
      return Promise.resolve({ kind: 'notSent', cause: `${address} gave no answer lately` });
    }
    return this.#connect(key, address, method, link?.failures ?? 0).call(method, request, timeoutMs);
  }

  close(): void {
    this.#closed = true;
    for (const { connection } of this.#links.values()) connection.close();
    this.#links.clear();
  }

  #connect(key: string, address: string, { service }: Method<DescMessage, DescMessage>, failures: number): Connection {
    const { clock, random, via } = this.#options;
    const connection = new Connection({
      ...this.#options,
      address: via.get(address) ?? address,
      service,
      onClose: (answered) => {
        link.failures = answered ? 0 : link.failures + 1;
        if (!answered) link.notBeforeMs = clock.monotonicMs() + pauseMs(link.failures, random);
      },
    });
    const link: Link = { connection, failures, notBeforeMs: 0 };
    this.#links.set(key, link);
    return connection;
  }
}
