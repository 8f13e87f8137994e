// One machine: store, configuration, spout, dispatch and their services in one process.
//
// Ownership: an Engine owns all that it opened, and closes it in the reverse order.
//
// Invariants:
//   E1  What is opened is closed: when a later part can't be opened, and when the engine stops.
//   E2  Health says SERVING exactly while items are taken in.
//   E3  Dispatch drains before what it needs is closed: spout, server (people look on), modules, store.

import type { Dispatch } from '../../dispatch/dispatch.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { randomIds } from '../../platform/ids/random-ids.ts';
import { channelPair } from '../../platform/rpc/channel.ts';
import { startServer } from '../../platform/rpc/server.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import type { FromDispatch, FromSpout } from '../../proto/gen/weir/feed/v1/feed_pb.js';
import type { SpoutSettings } from '../../spout/settings.ts';
import { Spout } from '../../spout/spout.ts';
import type { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import type { Store } from '../../store/port.ts';
import type { FlowFile } from '../flow-file.ts';
import { type DispatchRoleOptions, openDispatchRole } from '../roles/dispatch-role.ts';
import { newIdentity } from '../roles/identity.ts';
import { type LocalOptions, openLocalBacking } from '../roles/local-backing.ts';
import { openWhole } from '../roles/open-whole.ts';
import { releaseFlows } from '../roles/release-flows.ts';
import { maxSendBytes, serverGraceMs } from '../roles/server-limits.ts';

export interface EngineOptions extends LocalOptions, DispatchRoleOptions {
  /** `host:port` to listen on; port 0 takes a free one. */
  readonly address: string;
  /** Pushed and released at start. */
  readonly flows: readonly Pick<FlowFile, 'text' | 'flow'>[];
  readonly logger: Logger;
  readonly spout?: Partial<SpoutSettings>;
}

export interface Engine {
  /** `host:port` as bound. */
  readonly address: string;
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly catalogue: FlowCatalogue;
  /** The flows that were given, as they are released now. */
  readonly released: ReadonlyArray<{ readonly name: string; readonly version: number }>;
  /** Takes in nothing more, drains and closes. Resolves when all is closed. */
  stop(this: void): Promise<void>;
}

/**
 * Opens everything, pushes and releases the flows, and serves. Throws DataFolderError when the folder can't be used, a
 * CommandFailure when a flow can't be released, an Error that names the address when it can't be bound; nothing is left open then.
 */
export function assemble(options: EngineOptions): Promise<Engine> {
  return openWhole((opened) => open(options, opened));
}

async function open(options: EngineOptions, opened: AsyncDisposableStack): Promise<Engine> {
  const { logger, address } = options;
  const backing = openLocalBacking(options, opened);
  const ids = randomIds();
  const self = newIdentity(ids);
  const onError = (error: unknown, doing: string) => logger.error('unexpected failure', error, { doing });
  const role = openDispatchRole(options, self, backing, { ids, logger, onError }, opened);
  const { dispatch, catalogue } = role;
  const released = await releaseFlows(catalogue, options.flows);
  const { membership } = backing;
  const spout = new Spout(
    { role: 'spout', ...self, address: '', capacity: 1 },
    { clock: systemClock, random: Math.random, store: role.store, membership, onError },
    options.spout,
  );
  const [ofSpout, ofDispatch] = channelPair<FromSpout, FromDispatch>((action) => systemClock.soon(action));
  dispatch.connect(ofDispatch);
  spout.connect(self, ofSpout);
  const server = await startServer({
    ...{ address, services: role.services, maxSendBytes },
    onError: (error, path) => logger.error('unexpected failure of a call', error, { path }),
  });
  opened.defer(async () => void (await server.stop(serverGraceMs)));
  await spout.start();
  opened.defer(() => spout.stop());
  await dispatch.start();
  opened.defer(() => dispatch.stop());
  server.health.set(true);
  const host = address.slice(0, address.lastIndexOf(':'));
  return {
    address: `${host}:${server.port}`,
    ...{ dispatch, store: backing.store, catalogue, released },
    stop: () => {
      server.health.set(false);
      return opened.disposeAsync();
    },
  };
}
