import type { Clock } from '../../platform/clock/clock.ts';
import type { EndpointDirectory } from '../../platform/coordination/endpoint-directory.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { GrpcModules } from '../modules/caller.ts';
import type { DirectorySetting } from '../modules/configuration.ts';
import { ModuleDirectory } from './module-directory.ts';
import { dnsResolver, type NameResolver } from './name-resolver.ts';
import { RegistrationRules } from './registration.ts';
import { Registrations } from './registrations.ts';

export interface OpenDirectoryPorts {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly ids: Ids;
  /** What all dispatches share. */
  readonly directory: EndpointDirectory;
  /** The data centre or cloud of this process; empty where there is only one. */
  readonly unit: string;
  /** Of the machine unless said otherwise. */
  readonly resolver?: NameResolver;
  /** Something that a person should know. */
  readonly warn: (message: string) => void;
  readonly onError: (error: unknown, doing: string) => void;
}

export interface OpenedDirectory {
  readonly modules: GrpcModules;
  readonly registrations: Registrations;
  /** Ends all connections to modules, and follows nothing any more. */
  close(this: void): void;
}

/** The modules of a dispatch, with endpoints that come and go. It connects to those that are listed at once. */
export function openDirectory(setting: DirectorySetting, ports: OpenDirectoryPorts): OpenedDirectory {
  const { clock, random, ids, directory, unit, warn, onError, resolver = dnsResolver() } = ports;
  const rules = new RegistrationRules(setting);
  const modules = new GrpcModules(setting.modules, { clock, random, unit });
  const registrations = new Registrations({ clock, ids, directory, rules, onError });
  const following = new ModuleDirectory(setting, { clock, random, resolver, directory, rules, modules, warn });
  following.start();
  return {
    modules,
    registrations,
    close: () => {
      following.stop();
      registrations.close();
      modules.close();
    },
  };
}
