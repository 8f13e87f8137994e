// Calls modules over gRPC: the adapter of the port. Owns the modules, and nothing about a call.

import type { Health, Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { CalledEndpoint } from './called-endpoint.ts';
import { CalledModule, type ModuleOptions } from './called-module.ts';
import { answerOf } from './classify.ts';
import type { ModuleSetting } from './configuration.ts';
import { defaultConcurrency, type EndpointSetting } from './endpoint-setting.ts';
import type { CallOutcome, ModuleCall, Modules, PendingCall } from './port.ts';

/** An endpoint as it is now. */
export interface EndpointView {
  /** `IP:port` */
  readonly address: string;
  readonly health: Health;
  /** Calls on their way, and how many there may be. */
  readonly inFlight: number;
  readonly concurrency: number;
  /** Who named it. */
  readonly source: Source;
  readonly weight: number;
  readonly version: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  /** It gets no new calls; those that are out are waited for. */
  readonly draining: boolean;
  /** Its last calls were not reached or lost: others are preferred. */
  readonly failing: boolean;
}

/** A module as it is now. */
export interface ModuleView {
  readonly name: string;
  readonly endpoints: readonly EndpointView[];
  /** Calls that wait for a free place. */
  readonly waiting: number;
}

/**
 * Modules beside those of the settings that are kept at once. Their names come from whoever registers, so that they are bounded; beyond it
 * one that nobody uses any more makes room, or the new one isn't called.
 */
const maxUnlisted = 1_000;

/** Names of modules that a message lists. */
const maxNames = 20;

export class GrpcModules implements Modules {
  readonly #listed: ReadonlySet<string>;
  readonly #modules: Map<string, CalledModule>;
  readonly #options: ModuleOptions;

  /** Begins to connect to all listed endpoints. They hold the process alive until `close`. */
  constructor(settings: readonly ModuleSetting[], options: ModuleOptions) {
    this.#options = options;
    this.#listed = new Set(settings.map(({ name }) => name));
    this.#modules = new Map(settings.map((setting) => [setting.name, new CalledModule(setting, options)]));
  }

  /**
   * Replaces the endpoints of a module, as `CalledModule.setEndpoints`; the module may be one that is in no settings. False when it is one of
   * too many of those: then nothing is called there.
   */
  setEndpoints(name: string, endpoints: readonly EndpointSetting[]): boolean {
    const known = this.#modules.get(name);
    if (known) {
      known.setEndpoints(endpoints);
      return true;
    }
    if (endpoints.length === 0) return true;
    if (!this.#hasRoom()) return false;
    const opened = new CalledModule({ name, endpoints: [], concurrency: defaultConcurrency }, this.#options);
    this.#modules.set(name, opened);
    opened.setEndpoints(endpoints);
    return true;
  }

  call(call: ModuleCall, done: (outcome: CallOutcome) => void): PendingCall {
    const module = this.#modules.get(call.module);
    if (module) return module.call(call, done);
    const outcome = { answer: answerOf(Ending.UNREACHABLE, this.#unknown(call.module)), tries: [] };
    const telling = this.#options.clock.after(0, () => done(outcome));
    return { abort: () => telling.cancel(), withdraw: () => false };
  }

  /** All modules: those of the settings in their order, then others that have endpoints or calls. */
  view(): ModuleView[] {
    return [...this.#modules.values()]
      .filter((module) => this.#listed.has(module.name) || !module.isIdle)
      .map(({ name, endpoints, waiting }) => ({ name, endpoints: endpoints.map(viewOf), waiting }));
  }

  /** Ends all connections. Calls still out are cancelled, and nobody hears of them. */
  close(): void {
    for (const module of this.#modules.values()) module.close();
  }

  #hasRoom(): boolean {
    if (this.#modules.size < this.#listed.size + maxUnlisted) return true;
    for (const [name, module] of this.#modules) {
      if (this.#listed.has(name) || !module.isIdle) continue;
      module.close();
      this.#modules.delete(name);
      return true;
    }
    return false;
  }

  #unknown(name: string): string {
    const names = [...this.#modules.keys()];
    const more = names.length > maxNames ? `, … (${names.length})` : '';
    const known = names.length === 0 ? 'none is' : `known are ${names.slice(0, maxNames).join(', ')}${more}`;
    return `module ${name} is not in the directory; ${known}`;
  }
}

function viewOf(endpoint: CalledEndpoint): EndpointView {
  const { address, health, inFlight, concurrency, setting, isLeaving, isFailing } = endpoint;
  const { source, weight, version, unit, labels } = setting;
  return {
    ...{ address, health, inFlight, concurrency, source, weight, version, unit, labels },
    draining: isLeaving,
    failing: isFailing,
  };
}
