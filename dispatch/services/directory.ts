// weir.directory.v1.Directory: the modules that this process knows, and how they are; and the endpoints that register here.

import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type Handlers, type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { StreamChannel } from '../../platform/rpc/stream-channel.ts';
import {
  Directory,
  type RegisterRequest,
  type RegisterResponse,
} from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { maxMessages } from '../directory/lease.ts';
import type { Registrations } from '../directory/registrations.ts';
import type { ModuleView } from '../modules/caller.ts';

/**
 * `view`: the modules as they are at the moment of the call. `registrations`: where endpoints register; without it all are refused.
 */
export function directoryService(
  view: () => ModuleView[],
  registrations?: Pick<Registrations, 'open'>,
): ImplementedService {
  return implement(Directory, {
    listModules: async () => ({
      modules: view().map((module) => ({
        ...module,
        endpoints: module.endpoints.map((endpoint) => ({ ...endpoint, labels: { ...endpoint.labels } })),
      })),
    }),
    register: registrations ? registering(registrations) : refusing,
  });
}

function registering(registrations: Pick<Registrations, 'open'>): Handlers<typeof Directory>['register'] {
  return async function* (requests, { stopping, peer }) {
    // A reader that falls behind by so much doesn't read.
    const channel = new StreamChannel<RegisterResponse, RegisterRequest>(requests, 10 * maxMessages);
    const lease = registrations.open(channel, peer);
    const stop = (): void => lease.stopping();
    stopping.addEventListener('abort', stop);
    if (stopping.aborted) stop();
    try {
      yield* channel.outgoing();
      if (lease.refusal) throw lease.refusal;
    } finally {
      stopping.removeEventListener('abort', stop);
      channel.end();
    }
  };
}

// It throws before the first answer: there is none.
// oxlint-disable-next-line require-yield
async function* refusing(): AsyncGenerator<never> {
  throw new RpcError(Code.UNIMPLEMENTED, 'endpoints do not register here; list them in the settings');
}
