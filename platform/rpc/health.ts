// grpc.health.v1: whether a server and each of its services take calls.
//
// Owns one status per service and the watchers.
// 1. The set of services is fixed; '' stands for the server as a whole. All begin as NOT_SERVING.
// 2. A watcher is told the status at once and after every change; changes that it was too slow to read are merged.

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type HealthCheckResponseSchema,
  Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../proto/gen/grpc/health/v1/health_pb.js';
import { Code, RpcError } from './error.ts';
import { type CallContext, type ImplementedService, implement } from './handlers.ts';

export interface Health {
  /** Says whether a service takes calls; without a name, for the server and all its services. */
  set(serving: boolean, serviceName?: string): void;
  readonly service: ImplementedService;
}

/** Open Watch calls of one server. Load balancers hold one per client; the limit bounds memory. */
const maxWatchers = 10_000;

type Status = MessageInitShape<typeof HealthCheckResponseSchema>;

export function createHealth(serviceNames: readonly string[]): Health {
  const statuses = new Map(['', ...serviceNames].map((name) => [name, ServingStatus.NOT_SERVING]));
  const wakers = new Set<() => void>();

  async function* watch(name: string, context: CallContext): AsyncIterable<Status> {
    if (wakers.size >= maxWatchers) {
      throw new RpcError(Code.RESOURCE_EXHAUSTED, `${wakers.size} watchers, at most ${maxWatchers} are allowed`);
    }
    let wake = (): void => {};
    const waker = (): void => wake();
    wakers.add(waker);
    context.signal.addEventListener('abort', waker);
    context.stopping.addEventListener('abort', waker);
    try {
      let told: ServingStatus | undefined;
      while (!context.signal.aborted) {
        const status = statuses.get(name) ?? ServingStatus.SERVICE_UNKNOWN;
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (status !== told) {
          told = status;
          yield { status };
        } else if (context.stopping.aborted) {
          return;
        } else {
          await changed;
        }
      }
    } finally {
      wakers.delete(waker);
      context.signal.removeEventListener('abort', waker);
      context.stopping.removeEventListener('abort', waker);
    }
  }

  return {
    set: (serving, serviceName) => {
      if (serviceName !== undefined && !statuses.has(serviceName)) {
        throw new RangeError(`no service ${serviceName}; there are ${[...statuses.keys()].join(', ')}`);
      }
      for (const name of serviceName === undefined ? statuses.keys() : [serviceName]) {
        statuses.set(name, serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
      }
      for (const waker of wakers) waker();
    },
    service: implement(HealthService, {
      check: async ({ service }) => {
        const status = statuses.get(service);
        if (status === undefined) throw new RpcError(Code.NOT_FOUND, `no service ${JSON.stringify(service)}`);
        return { status };
      },
      watch: ({ service }, context) => watch(service, context),
    }),
  };
}
