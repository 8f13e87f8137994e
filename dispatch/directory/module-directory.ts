// Which endpoints the modules of this process have: listed, from the DNS, registered at whichever dispatch; joined, and kept up to date.
//
// Owns the watches of names. The modules own the endpoints.
//
// Invariants:
//   D1  After each change of a source the modules are given the join of all, a turn later at most.
//   D2  No address that was registered or resolved is given to the modules unless it is allowed here, wherever it was allowed before; and no
//       registered endpoint of a module that may not register here.
//   D3  After `stop` the modules are given nothing.

import type { Clock } from '../../platform/clock/clock.ts';
import type { EndpointDirectory, RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { type Address, readAddress } from '../modules/address.ts';
import { AllowedAddresses } from '../modules/allowed-addresses.ts';
import type { GrpcModules } from '../modules/caller.ts';
import type { DirectorySetting, ModuleSetting } from '../modules/configuration.ts';
import { joinEndpoints, newestRegistrations } from './join.ts';
import type { NameResolver } from './name-resolver.ts';
import { NameWatch } from './name-watch.ts';
import type { RegistrationRules } from './registration.ts';

/** Refused endpoints that are told of, each once. Beyond it they are refused silently: their number is in the hands of others. */
const maxWarned = 1_000;

export interface ModuleDirectoryPorts {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly resolver: NameResolver;
  readonly directory: EndpointDirectory;
  readonly rules: RegistrationRules;
  readonly modules: Pick<GrpcModules, 'setEndpoints'>;
  /** Something that a person should know. */
  readonly warn: (message: string) => void;
}

export class ModuleDirectory {
  readonly #ports: ModuleDirectoryPorts;
  readonly #settings: ReadonlyMap<string, ModuleSetting>;
  readonly #allowed: AllowedAddresses;
  readonly #names = new Map<string, NameWatch>();
  readonly #warned = new Set<string>();
  /** Modules that were given registered endpoints the last time. */
  #registered = new Set<string>();
  #unwatch: () => void = () => {};
  #isJoining = false;
  #isStopped = false;

  constructor(setting: DirectorySetting, ports: ModuleDirectoryPorts) {
    this.#ports = ports;
    this.#settings = new Map(setting.modules.map((module) => [module.name, module]));
    this.#allowed = new AllowedAddresses(setting.networks);
    for (const { name: module, dns } of setting.modules) if (dns) this.#names.set(module, this.#watchOf(module, dns));
  }

  start(): void {
    this.#unwatch = this.#ports.directory.watch(() => this.#joinSoon());
    for (const name of this.#names.values()) name.start();
    this.#joinSoon();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unwatch();
    for (const name of this.#names.values()) name.stop();
  }

  #watchOf(module: string, name: NonNullable<ModuleSetting['dns']>): NameWatch {
    const { clock, random, resolver, warn } = this.#ports;
    return new NameWatch({
      ...{ name, clock, random, resolver, allowed: this.#allowed },
      changed: () => this.#joinSoon(),
      warn: (message) => warn(`module ${module}: ${message}`),
    });
  }

  #joinSoon(): void {
    if (this.#isJoining) return;
    this.#isJoining = true;
    this.#ports.clock.soon(() => {
      this.#isJoining = false;
      if (!this.#isStopped) this.#join();
    });
  }

  #join(): void {
    const registered = this.#registeredByModule();
    // Also those that have none any more.
    const modules = new Set([...this.#settings.keys(), ...this.#registered, ...registered.keys()]);
    this.#registered = new Set(registered.keys());
    for (const module of modules) {
      const setting = this.#settings.get(module);
      const resolved: readonly Address[] = this.#names.get(module)?.addresses ?? [];
      const sources = { resolved, registered: registered.get(module) ?? [], ...(setting && { setting }) };
      if (!this.#ports.modules.setEndpoints(module, joinEndpoints(sources))) {
        this.#warn(`module ${module}: there are too many modules that are in no settings; it is not called`);
      }
    }
  }

  #registeredByModule(): Map<string, RegisteredEndpoint[]> {
    const byModule = new Map<string, RegisteredEndpoint[]>();
    for (const endpoint of newestRegistrations(this.#ports.directory.endpoints()).values()) {
      const problem = this.#problemWith(endpoint);
      if (problem !== undefined) {
        this.#warn(`module ${endpoint.module}: a registered endpoint is not called: ${problem}`);
        continue;
      }
      const others = byModule.get(endpoint.module);
      if (others) others.push(endpoint);
      else byModule.set(endpoint.module, [endpoint]);
    }
    return byModule;
  }

  #problemWith({ module, address }: RegisteredEndpoint): string | undefined {
    if (!this.#ports.rules.mayRegister(module)) return `${address}: the module may not register here`;
    const reading = readAddress(address);
    return reading.ok ? this.#allowed.problem(reading.address) : reading.problem;
  }

  #warn(message: string): void {
    if (this.#warned.has(message) || this.#warned.size >= maxWarned) return;
    this.#warned.add(message);
    this.#ports.warn(message);
  }
}
