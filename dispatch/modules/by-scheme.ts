import { isAddress } from '../../flow/definition/address.ts';
import type { CallOutcome, ModuleCall, Modules, PendingCall } from './port.ts';

/** Calls addresses one way and modules the other. */
export class ModulesByScheme implements Modules {
  readonly #modules: Modules;
  readonly #addresses: Modules;

  constructor(modules: Modules, addresses: Modules) {
    this.#modules = modules;
    this.#addresses = addresses;
  }

  call(call: ModuleCall, done: (outcome: CallOutcome) => void): PendingCall {
    return (isAddress(call.module) ? this.#addresses : this.#modules).call(call, done);
  }
}
