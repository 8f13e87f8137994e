// The endpoints that registered at this dispatch.
//
// Owns their leases.
//
// Invariants:
//   R1  Of two registrations of one module at one address, wherever they were made, the one that sorts later holds. Whoever has the
//       lease of the other one here is told, and its stream ends.
//   R2  A registration sorts after all that this dispatch knows of the same module and address, whatever the clocks say.

import type { Clock } from '../../platform/clock/clock.ts';
import type { EndpointDirectory, RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Registration } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { maxEndpoints } from '../modules/endpoint-setting.ts';
import { endpointKey, newestRegistrations, registrationAfter } from './join.ts';
import { Lease, type LeaseChannel } from './lease.ts';
import type { RegistrationRules } from './registration.ts';

/** Streams of one dispatch: each costs a heartbeat every five seconds and some kilobytes. */
const maxLeases = 10_000;
/** Streams of one connection: a process serves a few modules. */
export const maxLeasesOfConnection = 64;

export interface RegistrationsPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly directory: EndpointDirectory;
  readonly rules: RegistrationRules;
  readonly onError: (error: unknown, doing: string) => void;
}

export class Registrations {
  readonly #ports: RegistrationsPorts;
  readonly #leases = new Set<Lease>();
  readonly #unwatch: () => void;
  #isLooking = false;

  constructor(ports: RegistrationsPorts) {
    this.#ports = ports;
    this.#unwatch = ports.directory.watch(() => this.#lookSoon());
  }

  /** Serves a stream. `peer`: `IP:port` of the connection that it came by. */
  open(channel: LeaseChannel, peer: string): Lease {
    const { clock, directory, onError } = this.#ports;
    const lease = new Lease(channel, peer, {
      ...{ clock, directory, onError },
      admit: (registration, from) => this.#admit(registration, from),
      ended: (over) => this.#leases.delete(over),
    });
    const ofConnection = [...this.#leases].filter((other) => other.peer === peer).length;
    this.#leases.add(lease);
    if (ofConnection >= maxLeasesOfConnection) lease.refuse(tooMany('of one connection', maxLeasesOfConnection));
    else if (this.#leases.size > maxLeases) lease.refuse(tooMany('at one dispatch', maxLeases));
    else lease.start();
    return lease;
  }

  /** No older registrations are looked for any more; the streams are ended by whoever holds them. */
  close(): void {
    this.#unwatch();
  }

  #admit(registration: Registration, peer: string): RegisteredEndpoint {
    const { clock, directory, ids, rules } = this.#ports;
    const checked = rules.check(registration, peer);
    const ofModule = directory.endpoints().filter(({ module }) => module === checked.module);
    const others = new Set(ofModule.map(({ address }) => address).filter((address) => address !== checked.address));
    if (others.size >= maxEndpoints) {
      const what = `module: ${checked.module} has ${others.size} registered endpoints, at most ${maxEndpoints} are allowed`;
      throw new RpcError(Code.RESOURCE_EXHAUSTED, what);
    }
    const known = ofModule.filter(({ address }) => address === checked.address);
    const newest = known.reduce((newest, { registration }) => (registration > newest ? registration : newest), '');
    return { ...checked, registration: registrationAfter(newest, clock.nowMs(), ids.next()) };
  }

  #lookSoon(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#ports.clock.soon(() => {
      this.#isLooking = false;
      this.#look();
    });
  }

  #look(): void {
    const newest = newestRegistrations(this.#ports.directory.endpoints());
    for (const lease of [...this.#leases]) {
      if (!lease.endpoint) continue;
      const holding = newest.get(endpointKey(lease.endpoint))?.registration ?? '';
      if (holding > lease.endpoint.registration) lease.supersede(holding);
    }
  }
}

function tooMany(where: string, max: number): RpcError {
  return new RpcError(Code.RESOURCE_EXHAUSTED, `found more registrations ${where}, allowed are ${max}`);
}
