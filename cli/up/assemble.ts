// One machine: store, configuration, spout, dispatch and their services in one process.
//
// Ownership: an Engine owns all that it opened, and closes it in the reverse order.
//
// Invariants:
//   E1  What is opened is closed: when a later part can't be opened, and when the engine stops.
//   E2  Health says SERVING exactly while items are taken in.
//   E3  Dispatch drains before what it needs is closed: spout, server (people look on), modules, store.

import { hostname } from 'node:os';
import { Dispatch } from '../../dispatch/dispatch.ts';
import { ItemRouting } from '../../dispatch/driver/item-routing.ts';
import { ModulesByScheme } from '../../dispatch/modules/by-scheme.ts';
import { CallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import { GrpcModules } from '../../dispatch/modules/caller.ts';
import type { ModuleSetting } from '../../dispatch/modules/configuration.ts';
import { HttpModules } from '../../dispatch/modules/http-caller.ts';
import type { Modules } from '../../dispatch/modules/port.ts';
import { businessesService } from '../../dispatch/services/businesses.ts';
import { directoryService } from '../../dispatch/services/directory.ts';
import { flowsService } from '../../dispatch/services/flows.ts';
import { routesService } from '../../dispatch/services/routes.ts';
import { runsService } from '../../dispatch/services/runs.ts';
import { type DispatchSettings, dispatchDefaults } from '../../dispatch/settings.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { InProcessMembership } from '../../platform/coordination/in-process-membership.ts';
import { InProcessRunLocks } from '../../platform/coordination/in-process-run-locks.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';
import { SqliteConfiguration } from '../../platform/coordination/sqlite-configuration.ts';
import { randomIds } from '../../platform/ids/random-ids.ts';
import { channelPair } from '../../platform/rpc/channel.ts';
import { type RunningServer, startServer } from '../../platform/rpc/server.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import type { FromDispatch, FromSpout } from '../../proto/gen/weir/feed/v1/feed_pb.js';
import type { SpoutSettings } from '../../spout/settings.ts';
import { Spout } from '../../spout/spout.ts';
import { BusinessCatalogue } from '../../store/catalogue/business-catalogue.ts';
import { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import { RouteCatalogue } from '../../store/catalogue/route-catalogue.ts';
import type { Store } from '../../store/port.ts';
import { openDataFolder } from '../../store/sqlite/data-folder.ts';
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { FlowFile } from '../flow-file.ts';
import { releaseFlows } from './release-flows.ts';

export interface EngineOptions {
  /** Folder of all state; created when it is not there. No second engine may use it. */
  readonly data: string;
  /** `host:port` to listen on; port 0 takes a free one. */
  readonly address: string;
  readonly modules: readonly ModuleSetting[];
  /** Hosts that flows may call by address. None by default: flows are written by more people than may reach the network here. */
  readonly callbackHosts?: CallbackHosts;
  /** Pushed and released at start. */
  readonly flows: readonly Pick<FlowFile, 'text' | 'flow'>[];
  readonly logger: Logger;
  readonly dispatch?: Partial<DispatchSettings>;
  readonly spout?: Partial<SpoutSettings>;
  /** Called once when the engine can't go on, and has to be stopped: the disk has failed. */
  readonly onFatal: (cause: string) => void;
  /** Puts something between the roles and their ports. */
  readonly around?: (ports: EnginePorts) => EnginePorts;
}

/** The ports through which the roles change something. */
export interface EnginePorts {
  readonly store: Store;
  readonly modules: Modules;
  readonly locks: RunLocks;
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

/** Milliseconds that calls of the services get to finish when the engine stops: streams are told, everything else is short. */
const serverGraceMs = 2_000;

/** Bytes of one answer: a run with all its fields is larger than any request. */
const maxSendBytes = 64 * 1_048_576;

/**
 * Opens everything, pushes and releases the flows, and serves. Throws DataFolderError when the folder can't be used, a
 * CommandFailure when a flow can't be released, an Error that names the address when it can't be bound; nothing is left open then.
 */
export async function assemble(options: EngineOptions): Promise<Engine> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function open(options: EngineOptions, opened: AsyncDisposableStack): Promise<Engine> {
  const state = openState(options, opened);
  const { store, catalogue } = state;
  const released = await releaseFlows(catalogue, options.flows);
  const modules = new GrpcModules(options.modules, { clock: systemClock, random: Math.random });
  opened.defer(() => modules.close());
  const addresses = new HttpModules(options.callbackHosts ?? new CallbackHosts(), systemClock);
  opened.defer(() => addresses.close());
  const callers = new ModulesByScheme(modules, addresses);
  const ports = { store, modules: callers, locks: new InProcessRunLocks(systemClock) };
  const roles = createRoles(options, state, options.around?.(ports) ?? ports);
  const { dispatch } = roles;
  const server = await serve(options, [
    runsService({ dispatch, store, plans: catalogue, clock: systemClock, ids: roles.ids, random: Math.random }),
    flowsService(catalogue, state.businesses),
    routesService(state.routes, catalogue),
    businessesService(state.businesses),
    directoryService(() => modules.view()),
  ]);
  opened.defer(async () => void (await server.stop(serverGraceMs)));
  await roles.spout.start();
  opened.defer(() => roles.spout.stop());
  await dispatch.start();
  opened.defer(() => dispatch.stop());
  server.health.set(true);
  const host = options.address.slice(0, options.address.lastIndexOf(':'));
  return {
    address: `${host}:${server.port}`,
    ...{ dispatch, store, catalogue, released },
    stop: () => {
      server.health.set(false);
      return opened.disposeAsync();
    },
  };
}

function openState({ data, logger, onFatal }: EngineOptions, opened: AsyncDisposableStack) {
  const folder = openDataFolder(data);
  opened.defer(() => folder.close());
  const store = new SqliteStore(folder.file('runs.db'), {
    onFailure: ({ kind, cause }) => {
      logger.error(kind === 'stopped' ? 'the store has stopped' : 'a transaction failed', cause);
      if (kind === 'stopped') onFatal(cause);
    },
  });
  opened.defer(() => store.close());
  const configuration = new SqliteConfiguration(folder.file('configuration.db'));
  opened.defer(() => configuration.close());
  const catalogue = new FlowCatalogue(configuration, systemClock);
  opened.defer(() => catalogue.close());
  const routes = new RouteCatalogue(configuration, systemClock, catalogue);
  opened.defer(() => routes.close());
  return { store, catalogue, routes, businesses: new BusinessCatalogue(configuration, systemClock) };
}

/** Spout and dispatch of this process, linked with each other. */
function createRoles(
  options: EngineOptions,
  state: ReturnType<typeof openState>,
  { store, modules, locks }: EnginePorts,
) {
  const clock = systemClock;
  const ids = randomIds();
  const random = Math.random;
  const membership = new InProcessMembership(clock);
  const routing = new ItemRouting(state.routes, state.store);
  const onError = (error: unknown, doing: string) => options.logger.error('unexpected failure', error, { doing });
  const self = { processId: `${hostname()}/${process.pid}`, incarnation: ids.next(), address: '', unit: '' };
  const dispatch = new Dispatch(
    { role: 'dispatch', ...self, capacity: options.dispatch?.maxRuns ?? dispatchDefaults.maxRuns },
    { clock, ids, random, store, plans: state.catalogue, routing, modules, membership, locks, onError },
    options.dispatch,
  );
  const spout = new Spout(
    { role: 'spout', ...self, capacity: 1 },
    { clock, random, store, membership, onError },
    options.spout,
  );
  const [spoutEnd, dispatchEnd] = channelPair<FromSpout, FromDispatch>((action) => clock.soon(action));
  dispatch.connect(dispatchEnd);
  spout.connect(self, spoutEnd);
  return { dispatch, spout, ids };
}

function serve(
  options: EngineOptions,
  services: Parameters<typeof startServer>[0]['services'],
): Promise<RunningServer> {
  const { address, logger } = options;
  const onError = (error: unknown, path: string) => logger.error('unexpected failure of a call', error, { path });
  return startServer({ address, services, maxSendBytes, onError });
}
