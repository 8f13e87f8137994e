// One stream to one engine, which keeps the module registered while it lives.
//
// Owns the connection and its timers.
// 1. `ended` is told once, with the reason, unless `end` was called before.
// 2. A heartbeat goes out every `heartbeat_ms` that the engine asks for; an engine that answers nothing for three of them is gone.
// 3. After the end there is no timer and no connection.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Client, connect } from '../../platform/rpc/client.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Duplex } from '../../platform/rpc/stream.ts';
import {
  Directory,
  type RegisterRequestSchema,
  type RegisterResponse,
  type RegistrationSchema,
} from '../../proto/gen/weir/directory/v1/directory_pb.js';

type Request = MessageInitShape<typeof RegisterRequestSchema>;

/** Milliseconds between heartbeats, whatever an engine asks for. */
const shortestHeartbeatMs = 100;
const longestHeartbeatMs = 60_000;

/** Why a lease ended: the engine can't be reached or has gone; it refuses; the address is another registration's now. */
export type LeaseEnd =
  | { readonly kind: 'lost' | 'refused'; readonly message: string }
  | { readonly kind: 'superseded'; readonly message: string };

export interface LeaseOptions {
  /** `host:port` */
  readonly engine: string;
  readonly registration: MessageInitShape<typeof RegistrationSchema>;
  /** Milliseconds that the engine gets to answer the registration. */
  readonly openMs: number;
  readonly registered: (lease: Lease) => void;
  /** The engine is about to stop. */
  readonly stopping: (lease: Lease) => void;
  readonly ended: (lease: Lease, why: LeaseEnd) => void;
}

export class Lease {
  readonly engine: string;
  readonly #options: LeaseOptions;
  readonly #client: Client<typeof Directory>;
  readonly #stream: Duplex<Request, RegisterResponse>;
  #timer: NodeJS.Timeout | undefined;
  #heardMs = performance.now();
  #isRegistered = false;
  #isOver = false;
  #drained = Promise.withResolvers<void>();

  constructor(options: LeaseOptions) {
    this.engine = options.engine;
    this.#options = options;
    this.#client = connect(Directory, options.engine);
    this.#stream = this.#client.register();
    this.#timer = setTimeout(
      () => this.#over({ kind: 'lost', message: `no answer within ${options.openMs} ms` }),
      options.openMs,
    );
    this.#send({ case: 'registration', value: options.registration });
    void this.#read();
  }

  get isRegistered(): boolean {
    return this.#isRegistered && !this.#isOver;
  }

  /** Asks for no new calls. Settles when all engines are being told, or the lease is over. */
  drain(): Promise<void> {
    this.#send({ case: 'draining', value: {} });
    return this.#drained.promise;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#drained.resolve();
    this.#stream.cancel();
    this.#client.close();
  }

  async #read(): Promise<void> {
    try {
      for await (const response of this.#stream.responses) this.#hear(response);
      this.#over({ kind: 'lost', message: 'the engine has ended the stream' });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const isRefusal = error.origin === 'peer' && refusals.has(error.code);
      this.#over({ kind: isRefusal ? 'refused' : 'lost', message: error.message });
    }
  }

  #hear({ kind }: RegisterResponse): void {
    if (this.#isOver) return;
    this.#heardMs = performance.now();
    switch (kind.case) {
      case 'registered':
        this.#isRegistered = true;
        this.#beat(Math.min(longestHeartbeatMs, Math.max(shortestHeartbeatMs, kind.value.heartbeatMs)));
        return this.#options.registered(this);
      case 'drained':
        return this.#drained.resolve();
      case 'superseded':
        return this.#over({
          kind: 'superseded',
          message: `another registration, ${kind.value.registration}, holds now`,
        });
      case 'stopping':
        return this.#options.stopping(this);
      case 'heartbeat':
      case undefined:
        // Signs of life.
        return;
    }
  }

  #beat(heartbeatMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const silentMs = performance.now() - this.#heardMs;
      if (silentMs > 3 * heartbeatMs) {
        return this.#over({ kind: 'lost', message: `the engine has been silent for ${Math.round(silentMs)} ms` });
      }
      this.#send({ case: 'heartbeat', value: {} });
      this.#beat(heartbeatMs);
    }, heartbeatMs);
  }

  #send(kind: Exclude<Request['kind'], undefined>): void {
    // How a stream ends is told to whoever reads its answers.
    this.#stream.send({ kind }).catch(() => {});
  }

  #over(why: LeaseEnd): void {
    if (this.#isOver) return;
    this.end();
    this.#options.ended(this, why);
  }
}

/** Answers that another try brings again until somebody has changed something. */
const refusals: ReadonlySet<Code> = new Set([
  ...[Code.INVALID_ARGUMENT, Code.PERMISSION_DENIED, Code.UNAUTHENTICATED, Code.FAILED_PRECONDITION],
  ...[Code.RESOURCE_EXHAUSTED, Code.UNIMPLEMENTED],
]);
