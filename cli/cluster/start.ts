// The roles of one process of a cluster: a spout, a dispatch, or both.
//
// Ownership: a ClusterProcess owns all that it opened, and closes it in the reverse order.
//
// Invariants:
//   E1  What is opened is closed: when a later part can't be opened, and when the process stops.
//   E2  A dispatch is shown to spouts once its Feed is served; health says SERVING exactly while work is taken in.
//   E3  A dispatch drains before what it needs is closed.

import type { CallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import { feedService } from '../../dispatch/services/feed.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { ConfigurationUnavailable } from '../../platform/coordination/configuration.ts';
import { randomIds } from '../../platform/ids/random-ids.ts';
import type { ImplementedService } from '../../platform/rpc/handlers.ts';
import { type RunningServer, startServer } from '../../platform/rpc/server.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { FeedClient } from '../../spout/feed-client.ts';
import { openFeed } from '../../spout/open-feed.ts';
import { Spout } from '../../spout/spout.ts';
import type { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import type { FlowFile } from '../flow-file.ts';
import type { Backing } from '../roles/backing.ts';
import { openClusterBacking } from '../roles/cluster-backing.ts';
import { type DispatchRole, type DispatchRoleOptions, openDispatchRole } from '../roles/dispatch-role.ts';
import { type Identity, newIdentity } from '../roles/identity.ts';
import { failureTeller, knownFailure } from '../roles/known-failures.ts';
import { openWhole } from '../roles/open-whole.ts';
import { releaseFlows } from '../roles/release-flows.ts';
import { maxSendBytes, serverGraceMs } from '../roles/server-limits.ts';
import type { ClusterSettings } from './cluster-settings.ts';

export interface ClusterProcessOptions extends Pick<DispatchRoleOptions, 'around'> {
  readonly settings: ClusterSettings;
  readonly roles: ReadonlyArray<'spout' | 'dispatch'>;
  /** Stays the same over restarts, so that a spout that comes back finds its shards; the host and process id when absent. */
  readonly name?: string;
  readonly callbackHosts?: CallbackHosts;
  /** Pushed and released at start, by a dispatch. */
  readonly flows: readonly Pick<FlowFile, 'text' | 'flow'>[];
  readonly logger: Logger;
}

export interface ClusterProcess {
  /** `host:port` as bound: of the dispatch, else of the spout's health. */
  readonly address: string;
  readonly released: ReadonlyArray<{ readonly name: string; readonly version: number }>;
  stop(this: void): Promise<void>;
}

interface Shared {
  readonly options: ClusterProcessOptions;
  readonly self: Identity;
  readonly backing: Backing;
  readonly ids: ReturnType<typeof randomIds>;
  readonly onError: (error: unknown, doing: string) => void;
  readonly opened: AsyncDisposableStack;
}

/** Connects to the services of the cluster and starts the roles. Throws an Error that names what can't be used; nothing is left open. */
export function startClusterProcess(options: ClusterProcessOptions): Promise<ClusterProcess> {
  return openWhole((opened) => open(options, opened));
}

async function open(options: ClusterProcessOptions, opened: AsyncDisposableStack): Promise<ClusterProcess> {
  const { settings, roles, logger } = options;
  const ids = randomIds();
  const self = newIdentity(ids, settings.unit, options.name);
  const onError = failureTeller(logger, systemClock);
  const backing = await openClusterBacking({ settings, name: options.name, ids, logger }, opened);
  const shared: Shared = { options, self, backing, ids, onError, opened };
  const dispatch = roles.includes('dispatch') ? openDispatch(shared) : undefined;
  const released = dispatch ? await releaseOnceThere(dispatch.catalogue, options.flows) : [];
  const listenAt = dispatch ? settings.dispatch.address : settings.spout.address;
  const server = await serve(listenAt, dispatch ? [...dispatch.services, feedService(dispatch.dispatch)] : [], logger);
  opened.defer(async () => void (await server.stop(serverGraceMs)));
  const address = `${listenAt.slice(0, listenAt.lastIndexOf(':'))}:${server.port}`;
  if (roles.includes('spout')) await startSpout(shared, dispatch, address);
  if (dispatch) {
    await dispatch.dispatch.start(settings.dispatch.advertise ?? address);
    opened.defer(() => dispatch.dispatch.stop());
  }
  server.health.set(true);
  return {
    ...{ address, released },
    stop: () => {
      server.health.set(false);
      return opened.disposeAsync();
    },
  };
}

/** Pause before ZooKeeper is asked again, in ms: each try waits for it besides. */
const againMs = 500;

/** ZooKeeper may come later than this process. What was stored before it went away is found there: nothing is stored twice. */
async function releaseOnceThere(
  catalogue: FlowCatalogue,
  flows: ClusterProcessOptions['flows'],
): Promise<ClusterProcess['released']> {
  for (;;) {
    try {
      return await releaseFlows(catalogue, flows);
    } catch (error) {
      if (!(error instanceof ConfigurationUnavailable)) throw error;
      await new Promise<void>((resolve) => systemClock.after(againMs, resolve));
    }
  }
}

function openDispatch({ options, self, backing, ids, onError, opened }: Shared): DispatchRole {
  const { settings, callbackHosts, around, logger } = options;
  const { maxRuns, lockTtlMs, drainMs } = settings.dispatch;
  const role = {
    modules: settings.directory.modules,
    registration: settings.directory,
    dispatch: { maxRuns, lockTtlMs, drainMs },
    ...(callbackHosts && { callbackHosts }),
    ...(around && { around }),
  };
  return openDispatchRole(role, self, backing, { ids, logger, onError }, opened);
}

async function startSpout(shared: Shared, dispatch: DispatchRole | undefined, address: string): Promise<void> {
  const { options, self, backing, onError, opened } = shared;
  const { weight, graceMs } = options.settings.spout;
  const { membership } = backing;
  const common = { clock: systemClock, random: Math.random, membership, onError };
  const spout = new Spout(
    { role: 'spout', ...self, address, capacity: weight },
    { ...common, store: dispatch?.store ?? backing.store },
    { graceMs },
  );
  await spout.start();
  opened.defer(() => spout.stop());
  const feed = new FeedClient(spout, { ...common, unit: self.unit, open: (at) => openFeed(at, onError) });
  feed.start();
  opened.defer(() => feed.stop());
}

function serve(address: string, services: readonly ImplementedService[], logger: Logger): Promise<RunningServer> {
  const onError = (error: unknown, path: string) => logger.error('unexpected failure of a call', error, { path });
  return startServer({ address, services, maxSendBytes, onError, known: knownFailure });
}
