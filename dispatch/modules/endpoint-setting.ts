import type { RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import type { Address } from './address.ts';

/** An endpoint as it is to be called, whoever named it. */
export interface EndpointSetting extends Omit<RegisteredEndpoint, 'module' | 'address'> {
  readonly address: Address;
  /** One that isn't registered has an empty `registration`. */
  readonly source: Source;
}

/** Endpoints of one module that are called at once, from all sources together: beyond it balancing and health cost too much. */
export const maxEndpoints = 256;
/** Enough to keep an endpoint of a few cores busy; a module that wants fewer says so. */
export const defaultConcurrency = 64;
export const maxConcurrency = 10_000;
/** Larger shares make the others idle: run more processes instead. */
export const maxWeight = 100;

/** An endpoint of which nothing is known but where it is. */
export function plainEndpoint(address: Address, source: Source, concurrency: number): EndpointSetting {
  return { address, source, registration: '', concurrency, weight: 1, version: '', unit: '', labels: {} };
}

export function staticEndpoint(address: Address, concurrency: number): EndpointSetting {
  return plainEndpoint(address, Source.STATIC, concurrency);
}
