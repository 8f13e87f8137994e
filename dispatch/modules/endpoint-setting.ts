import { Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import type { Address } from './address.ts';

/** An endpoint as it is to be called, whoever named it. */
export interface EndpointSetting {
  readonly address: Address;
  readonly source: Source;
  /** Of a registered one: the same address under another registration is another process. Else empty. */
  readonly registration: string;
  /** Calls in flight, from 1. */
  readonly concurrency: number;
  /** Its share of calls beside others of its module, from 1. */
  readonly weight: number;
  /** Of the module's program; empty when it says none. */
  readonly version: string;
  /** The data centre or cloud it belongs to; empty where there is only one. */
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
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
