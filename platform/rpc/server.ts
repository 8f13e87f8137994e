// A gRPC server over plaintext HTTP/2.
//
// The server owns its port, the stopping signal and the health of its services.
// 1. Health says NOT_SERVING until the owner says otherwise, and again from the first moment of `stop`.
// 2. Stopping: no new connections and calls, held streams are told (`context.stopping`), running calls may finish for
//    `graceMs`; what is left then is cut, and its handlers see their signal fire.
// 3. `stop` may be called again; all calls get the same result.

import { Server, ServerCredentials } from '@grpc/grpc-js';
import { serviceDefinition } from './definition.ts';
import type { RpcError } from './error.ts';
import type { ImplementedService } from './handlers.ts';
import { createHealth, type Health } from './health.ts';
import { defaultMaxConcurrentCalls, defaultMaxMessageBytes } from './limits.ts';
import { reflect } from './reflection.ts';
import { serving } from './serving.ts';

/** Milliseconds of silence after which a connection is asked whether it lives: a few round trips of the slowest network. */
const keepaliveMs = 5_000;

export interface ServerOptions {
  /** `host:port`; port 0 takes a free one. */
  readonly address: string;
  readonly services: readonly ImplementedService[];
  /** Serve grpc.health.v1; default true: load balancers and the engine ask it. */
  readonly health?: boolean;
  /** Serve grpc.reflection v1 and v1alpha; default true: tools can call the services without their .proto files. */
  readonly reflection?: boolean;
  /** Bytes of one request; default `defaultMaxMessageBytes`. A larger one is answered with RESOURCE_EXHAUSTED. */
  readonly maxReceiveBytes?: number;
  /** Bytes of one response; default `defaultMaxMessageBytes`. A larger one is replaced by RESOURCE_EXHAUSTED. */
  readonly maxSendBytes?: number;
  /** Open calls of one connection; default `defaultMaxConcurrentCalls`. */
  readonly maxConcurrentCalls?: number;
  /** What a handler threw that isn't an RpcError and no bug either: something that it needs is away. Default: there is nothing. */
  readonly known?: (thrown: unknown) => RpcError | undefined;
  /** Gets what a handler threw and was neither (a bug), with the path of the method. */
  readonly onError: (error: unknown, path: string) => void;
}

export interface RunningServer {
  /** The bound port. */
  readonly port: number;
  readonly health: Health;
  /** Stops within about `graceMs` milliseconds. Says whether every call could finish. */
  stop(graceMs: number): Promise<'finished' | 'cut'>;
}

/** Binds the address and serves. Rejects with an Error that names the address when it can't be bound. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = new Server({
    'grpc.max_receive_message_length': options.maxReceiveBytes ?? defaultMaxMessageBytes,
    'grpc.max_send_message_length': options.maxSendBytes ?? defaultMaxMessageBytes,
    'grpc.max_concurrent_streams': options.maxConcurrentCalls ?? defaultMaxConcurrentCalls,
    // A caller whose machine is gone says no goodbye: held streams of such connections end within twice this time.
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs,
    // Channelz stays on: without it grpc-js doesn't know its sessions and forceShutdown cuts nothing.
  });
  const { known = () => undefined } = options;
  const stopping = new AbortController();
  const health = createHealth(options.services.map(({ service }) => service.typeName));
  const services = [...options.services, ...(options.health === false ? [] : [health.service])];
  if (options.reflection !== false) services.push(...reflect(services.map(({ service }) => service)));
  for (const implemented of services) {
    const handlers = serving(implemented, { known, onError: options.onError, stopping: stopping.signal });
    server.addService(serviceDefinition(implemented.service), handlers);
  }
  const port = await bind(server, options.address);
  let stopped: Promise<'finished' | 'cut'> | undefined;
  return {
    port,
    health,
    stop: (graceMs) => {
      health.set(false);
      stopping.abort();
      stopped ??= shutDown(server, graceMs);
      return stopped;
    },
  };
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(new Error(`cannot listen on ${address}: ${error.message}`, { cause: error }));
      else resolve(port);
    });
  });
}

function shutDown(server: Server, graceMs: number): Promise<'finished' | 'cut'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve('cut');
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve('finished');
    });
  });
}
