// Calls modules over gRPC: the adapter of the port. Owns the modules, and nothing about a call.

import type { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { CalledModule, type ModuleOptions } from './called-module.ts';
import { answerOf } from './classify.ts';
import type { ModuleSetting } from './configuration.ts';
import type { CallOutcome, ModuleCall, Modules, PendingCall } from './port.ts';

/** A module as it is now. */
export interface ModuleView {
  readonly name: string;
  readonly endpoints: ReadonlyArray<{
    /** `IP:port` */
    readonly address: string;
    readonly health: Health;
    /** Calls on their way, and how many there may be. */
    readonly inFlight: number;
    readonly concurrency: number;
  }>;
  /** Calls that wait for a free place. */
  readonly waiting: number;
}

/** Names of modules that a message lists. */
const maxNames = 20;

export class GrpcModules implements Modules {
  readonly #modules: ReadonlyMap<string, CalledModule>;
  readonly #options: ModuleOptions;

  /** Begins to connect to all endpoints. They hold the process alive until `close`. */
  constructor(settings: readonly ModuleSetting[], options: ModuleOptions) {
    this.#options = options;
    this.#modules = new Map(settings.map((setting) => [setting.name, new CalledModule(setting, options)]));
  }

  call(call: ModuleCall, done: (outcome: CallOutcome) => void): PendingCall {
    const module = this.#modules.get(call.module);
    if (module) return module.call(call, done);
    const outcome = { answer: answerOf(Ending.UNREACHABLE, this.#unknown(call.module)), tries: [] };
    const telling = this.#options.clock.after(0, () => done(outcome));
    return { abort: () => telling.cancel(), withdraw: () => false };
  }

  /** All modules in the order of the configuration. */
  view(): ModuleView[] {
    return [...this.#modules.values()].map(({ name, endpoints, waiting }) => ({
      name,
      endpoints: endpoints.map(({ address, health, inFlight, concurrency }) => ({
        address,
        health,
        inFlight,
        concurrency,
      })),
      waiting,
    }));
  }

  /** Ends all connections. Calls still out are cancelled, and nobody hears of them. */
  close(): void {
    for (const module of this.#modules.values()) module.close();
  }

  #unknown(name: string): string {
    const names = [...this.#modules.keys()];
    const more = names.length > maxNames ? `, … (${names.length})` : '';
    const known = names.length === 0 ? 'none is' : `known are ${names.slice(0, maxNames).join(', ')}${more}`;
    return `module ${name} is not in the directory; ${known}`;
  }
}
