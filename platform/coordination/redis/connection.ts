// One connection to one Redis server, which answers in time or counts as away.
//
// Owns the ioredis client, and what is known of the server.
//
// Invariants:
//   C1  Nothing is sent before the server was looked at on this very connection (server-check.ts), and nothing is queued for later: what
//       can't be sent now fails now.
//   C2  An answer that doesn't come in time ends the connection. So a frozen server costs one time-out, not one a call, and no
//       late answer is taken for that of another call.
//   C3  What ioredis throws goes no further than here, apart from its message: the error of an AUTH holds the password.
//   C4  An outage is told once when it begins, and once when it is over.

import { Redis } from 'ioredis';
import type { Clock, Timer } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type LockScript, lockScripts } from './scripts.ts';
import { checkServer } from './server-check.ts';
import { type RedisServer, type RedisSettings, shownServer } from './settings.ts';

export interface RedisPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The server can't keep locks as it is set up. */
export class RedisRefusedError extends Error {
  override readonly name = 'RedisRefusedError';
}

/** Why there is no answer; the message tells, `cause` is left out (C3). */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** How long a connection that we end may take to end, in ms: a frozen server never says goodbye. */
const disconnectTimeoutMs = 100;

type ScriptCall = (keys: number, ...values: ReadonlyArray<string | number>) => Promise<unknown>;

export class RedisConnection {
  readonly shown: string;
  readonly #settings: RedisSettings;
  readonly #ports: RedisPorts;
  readonly #client: Redis;
  readonly #opened = Promise.withResolvers<void>();
  #state: 'away' | 'ready' | 'closed' = 'away';
  /** Counts connections: what was asked by an earlier one says nothing of the present one. */
  #epoch = 0;
  #recheck: Timer | undefined;
  /** What was told of the outage under way. */
  #told: string | undefined;
  #lastError: string | undefined;
  #warned = false;

  constructor(server: RedisServer, settings: RedisSettings, ports: RedisPorts) {
    this.shown = shownServer(server);
    this.#settings = settings;
    this.#ports = ports;
    this.#client = this.#makeClient(server);
    this.#client.on('ready', () => {
      this.#epoch++;
      void this.#check(this.#epoch);
    });
    // Told when the connection has ended, which follows each error.
    this.#client.on('error', (error: Error) => (this.#lastError = error.message));
    this.#client.on('close', () => this.#ended());
    // Nobody may wait for it.
    this.#opened.promise.catch(() => {});
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  /** Resolves when it is known whether the server is there; it need not be. Throws RedisRefusedError. */
  async open(): Promise<void> {
    this.#client.connect().catch((error: Error) => (this.#lastError ??= error.message));
    await this.#opened.promise;
  }

  close(): void {
    this.#state = 'closed';
    this.#recheck?.cancel();
    this.#opened.resolve();
    this.#client.disconnect();
  }

  /** Rejects with NoAnswerError. */
  async run(script: LockScript, keys: readonly string[], values: ReadonlyArray<string | number>): Promise<unknown> {
    const call = (this.#client as unknown as Record<LockScript, ScriptCall>)[script];
    return this.#await(() => call.call(this.#client, keys.length, ...keys, ...values));
  }

  /** Rejects with NoAnswerError. */
  async call(command: string, values: ReadonlyArray<string | number>): Promise<unknown> {
    return this.#await(() => this.#client.call(command, [...values]));
  }

  async #await(send: () => Promise<unknown>): Promise<unknown> {
    if (this.#state !== 'ready') throw new NoAnswerError(`${this.shown} is away`);
    const epoch = this.#epoch;
    try {
      return await send();
    } catch (error) {
      throw new NoAnswerError(this.#failed(epoch, error));
    }
  }

  /** Answers the message. An error that says nothing of the connection is the caller's to tell. */
  #failed(epoch: number, error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    const isOver = message === 'Command timed out' || /^(READONLY|LOADING|MASTERDOWN|NOAUTH)/.test(message);
    if (isOver && epoch === this.#epoch && this.#state === 'ready') {
      this.#away(message);
      this.#client.disconnect(true);
    }
    return message;
  }

  async #check(epoch: number): Promise<void> {
    let info: string;
    try {
      info = await this.#client.info();
    } catch (error) {
      const message = (error as Error).message;
      if (epoch !== this.#epoch || this.#state === 'closed') return;
      if (/^NOPERM|unknown command/.test(message)) return this.#ready(message);
      this.#away(this.#lastError ?? message);
      // A server that answers by an error goes on doing so for a while; one that doesn't answer is left.
      if (message === 'Command timed out') this.#client.disconnect(true);
      else this.#connectAnewLater();
      return;
    }
    if (epoch !== this.#epoch || this.#state === 'closed') return;
    const found = checkServer(info);
    if (found.kind === 'fit') return this.#ready();
    this.#away(found.problem, found.kind === 'refused');
    this.#connectAnewLater();
  }

  /** By another connection, which may lead to another server, and says anew who we are. */
  #connectAnewLater(): void {
    this.#recheck?.cancel();
    this.#recheck = this.#ports.clock.after(this.#settings.recheckMs, () => this.#client.disconnect(true));
  }

  #ready(unchecked?: string): void {
    this.#state = 'ready';
    this.#lastError = undefined;
    const fields = { server: this.shown };
    if (unchecked !== undefined && !this.#warned) {
      this.#warned = true;
      const warning = 'Redis does not say whether its maxmemory-policy is noeviction: see to it that it is';
      this.#ports.logger.warn(warning, { ...fields, problem: unchecked });
    }
    if (this.#told !== undefined) this.#ports.logger.info('Redis answers again', fields);
    this.#told = undefined;
    this.#opened.resolve();
  }

  #ended(): void {
    this.#recheck?.cancel();
    this.#away(this.#lastError ?? 'the connection has ended');
  }

  #away(problem: string, isRefusal = false): void {
    if (this.#state === 'closed') return;
    this.#state = 'away';
    const text = `Redis at ${this.shown}: ${problem}`;
    if (this.#told === undefined || (isRefusal && this.#told !== problem)) {
      this.#told = problem;
      this.#ports.logger.warn('Redis is away: no run locks', { server: this.shown, problem });
    }
    if (isRefusal) this.#opened.reject(new RedisRefusedError(text));
    else this.#opened.resolve();
  }

  #makeClient({ host, port, tls, database, user, password }: RedisServer): Redis {
    const { commandTimeoutMs, connectTimeoutMs, firstBackoffMs, maxBackoffMs } = this.#settings;
    return new Redis({
      ...{ host, port, db: database },
      ...(tls && { tls: {} }),
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      lazyConnect: true,
      // All of it is done here, so that it is done for each connection and ends in time.
      enableReadyCheck: false,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      // Whole numbers and lists are all that comes back; servers before 6 don't know the next protocol and must be told so clearly.
      protocol: 2,
      disableClientInfo: true,
      commandTimeout: commandTimeoutMs,
      connectTimeout: connectTimeoutMs,
      disconnectTimeout: disconnectTimeoutMs,
      retryStrategy: (attempts) => {
        const pauseMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(attempts - 1, 20));
        return pauseMs * (0.5 + this.#ports.random() / 2);
      },
      scripts: Object.fromEntries(Object.entries(lockScripts).map(([name, lua]) => [name, { lua }])),
    });
  }
}
