// The endpoints of a module from all sources, joined: pure.

import type { RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { type Address, readAddress } from '../modules/address.ts';
import type { ModuleSetting } from '../modules/configuration.ts';
import {
  defaultConcurrency,
  type EndpointSetting,
  maxConcurrency,
  maxEndpoints,
  maxWeight,
  plainEndpoint,
  staticEndpoint,
} from '../modules/endpoint-setting.ts';

/** Digits of a time in ms: enough for the next thirty thousand years. */
const timeDigits = 15;

/** An id of a registration that sorts after `newest` of the same endpoint (empty: there is none), by time when clocks agree. */
export function registrationAfter(newest: string, nowMs: number, id: string): string {
  const after = newest === '' ? 0 : Number(newest.slice(0, timeDigits)) + 1;
  const time = Math.max(nowMs, Number.isSafeInteger(after) ? after : 0);
  return `${String(Math.floor(time)).padStart(timeDigits, '0')}-${id}`;
}

/** What may be registered once. */
export function endpointKey({ module, address }: Pick<RegisteredEndpoint, 'module' | 'address'>): string {
  return `${module} ${address}`;
}

/** The registrations that hold, by `endpointKey`. */
export function newestRegistrations(all: Iterable<RegisteredEndpoint>): Map<string, RegisteredEndpoint> {
  const newest = new Map<string, RegisteredEndpoint>();
  for (const endpoint of all) {
    const key = endpointKey(endpoint);
    if (endpoint.registration > (newest.get(key)?.registration ?? '')) newest.set(key, endpoint);
  }
  return newest;
}

export interface EndpointSources {
  /** Absent: the module is in no settings. */
  readonly setting?: ModuleSetting;
  /** Those that the name in the settings resolves to. */
  readonly resolved: readonly Address[];
  /** Those that hold. */
  readonly registered: readonly RegisteredEndpoint[];
}

/**
 * The endpoints to call: one for each address, as the settings list it, else as it registered, else as the DNS has it; at most
 * `maxEndpoints`. The order is the same whatever the order of the sources.
 */
export function joinEndpoints({ setting, resolved, registered }: EndpointSources): readonly EndpointSetting[] {
  const concurrency = setting?.concurrency ?? defaultConcurrency;
  const byAddress = new Map<string, EndpointSetting>();
  const add = (endpoint: EndpointSetting): void => {
    const { text } = endpoint.address;
    if (byAddress.size < maxEndpoints && !byAddress.has(text)) byAddress.set(text, endpoint);
  };
  for (const address of setting?.endpoints ?? []) add(staticEndpoint(address, concurrency));
  for (const endpoint of sorted(registered, ({ address }) => address)) {
    const settingOf = registeredEndpoint(endpoint);
    if (settingOf) add(settingOf);
  }
  for (const address of sorted(resolved, ({ text }) => text)) add(plainEndpoint(address, Source.DNS, concurrency));
  return [...byAddress.values()];
}

/** Undefined when its address is none: what is kept for all dispatches may come from a newer one. */
function registeredEndpoint(endpoint: RegisteredEndpoint): EndpointSetting | undefined {
  const reading = readAddress(endpoint.address);
  if (!reading.ok) return undefined;
  const { registration, version, unit, labels } = endpoint;
  return {
    ...{ address: reading.address, source: Source.REGISTERED, registration, version, unit, labels },
    concurrency: within(endpoint.concurrency, maxConcurrency),
    weight: within(endpoint.weight, maxWeight),
  };
}

/** Numbers that balancing can divide by, whoever wrote them. */
function within(value: number, max: number): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(1, value), max) : 1;
}

function sorted<T>(items: readonly T[], textOf: (item: T) => string): readonly T[] {
  return items.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}
