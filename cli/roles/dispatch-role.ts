// The dispatch role of a process: catalogue, callers of modules, the dispatch itself, and the services that people and spouts call.

import { openDirectory } from '../../dispatch/directory/open-directory.ts';
import { Dispatch } from '../../dispatch/dispatch.ts';
import { ItemRouting } from '../../dispatch/driver/item-routing.ts';
import type { DispatchPorts } from '../../dispatch/driver/ports.ts';
import { defaultNetworks } from '../../dispatch/modules/allowed-addresses.ts';
import { ModulesByScheme } from '../../dispatch/modules/by-scheme.ts';
import { CallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import type { DirectorySetting, ModuleSetting } from '../../dispatch/modules/configuration.ts';
import { HttpModules } from '../../dispatch/modules/http-caller.ts';
import type { Modules } from '../../dispatch/modules/port.ts';
import { businessesService } from '../../dispatch/services/businesses.ts';
import { directoryService } from '../../dispatch/services/directory.ts';
import { flowsService } from '../../dispatch/services/flows.ts';
import { routesService } from '../../dispatch/services/routes.ts';
import { runsService } from '../../dispatch/services/runs.ts';
import { type DispatchSettings, dispatchDefaults } from '../../dispatch/settings.ts';
import { printableRun } from '../../flow/run-id.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { ImplementedService } from '../../platform/rpc/handlers.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { BusinessCatalogue } from '../../store/catalogue/business-catalogue.ts';
import { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import { RouteCatalogue } from '../../store/catalogue/route-catalogue.ts';
import type { Store } from '../../store/port.ts';
import type { Backing } from './backing.ts';
import type { Identity } from './identity.ts';

export interface DispatchRoleOptions {
  readonly modules: readonly ModuleSetting[];
  /** Which other modules may register, and in which networks endpoints may be. None by default; this machine and private ones. */
  readonly registration?: Pick<DirectorySetting, 'register' | 'networks'>;
  /** Hosts that flows may call by address. None by default: flows are written by more people than may reach the network here. */
  readonly callbackHosts?: CallbackHosts;
  readonly dispatch?: Partial<DispatchSettings>;
  /** Puts something between the roles and their ports. */
  readonly around?: (ports: RolePorts) => RolePorts;
}

/** The ports through which the roles change something. */
export interface RolePorts {
  readonly store: Store;
  readonly modules: Modules;
  readonly locks: RunLocks;
}

export interface DispatchRole {
  readonly dispatch: Dispatch;
  readonly catalogue: FlowCatalogue;
  readonly services: readonly ImplementedService[];
  /** As the roles of this process see it. */
  readonly store: Store;
}

/** Opens what the role needs; nothing is taken before `dispatch.start`. What is opened is closed by `opened`. */
export function openDispatchRole(
  options: DispatchRoleOptions,
  self: Identity,
  backing: Backing,
  shared: {
    readonly ids: Ids;
    readonly logger: Logger;
    readonly onError: (error: unknown, doing: string) => void;
  },
  opened: AsyncDisposableStack,
): DispatchRole {
  const clock = systemClock;
  const random = Math.random;
  const { configuration, membership } = backing;
  const { ids, logger, onError } = shared;
  const catalogue = new FlowCatalogue(configuration, clock);
  opened.defer(() => catalogue.close());
  const routes = new RouteCatalogue(configuration, clock, catalogue);
  opened.defer(() => routes.close());
  const businesses = new BusinessCatalogue(configuration, clock);
  const { modules, registrations, close } = openDirectory(
    { register: [], networks: defaultNetworks, ...options.registration, modules: options.modules },
    {
      clock,
      random,
      ids,
      onError,
      directory: backing.directory,
      unit: self.unit,
      warn: (message) => logger.warn(message),
    },
  );
  opened.defer(close);
  const addresses = new HttpModules(options.callbackHosts ?? new CallbackHosts(), clock);
  opened.defer(() => addresses.close());
  const plain = { store: backing.store, modules: new ModulesByScheme(modules, addresses), locks: backing.locks };
  const ports = options.around?.(plain) ?? plain;
  const routing = new ItemRouting(routes, backing.store);
  const dispatch = new Dispatch(
    { role: 'dispatch', ...self, address: '', capacity: options.dispatch?.maxRuns ?? dispatchDefaults.maxRuns },
    {
      clock,
      random,
      plans: catalogue,
      routing,
      membership,
      ids,
      onError,
      onLocks: tellLocks(logger),
      onOvertaken: tellOvertaken(logger),
      ...ports,
    },
    options.dispatch,
  );
  const services = [
    runsService({ dispatch, store: backing.store, plans: catalogue, clock, ids, random }),
    flowsService(catalogue, businesses),
    routesService(routes, catalogue),
    businessesService(businesses),
    directoryService(() => modules.view(), registrations),
  ];
  return { dispatch, catalogue, services, store: ports.store };
}

function tellLocks(logger: Logger): NonNullable<DispatchPorts['onLocks']> {
  return (change) => {
    if (change.kind === 'away') return logger.warn('run locks do not answer: claims go on without, at a limited rate');
    const { awayMs, unlockedClaims } = change;
    logger.info('run locks answer again', { awayMs: Math.round(awayMs), unlockedClaims });
  };
}

function tellOvertaken(logger: Logger): NonNullable<DispatchPorts['onOvertaken']> {
  return (run) => logger.info('a stale write was refused: another dispatch holds the run', { run: printableRun(run) });
}
