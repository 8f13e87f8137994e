import { describe, expect, it } from 'vitest';
import type { RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { readAddress } from '../modules/address.ts';
import { joinEndpoints, newestRegistrations, registrationAfter } from './join.ts';

function at(text: string) {
  const reading = readAddress(text);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.address;
}

function registered(address: string, more: Partial<RegisteredEndpoint> = {}): RegisteredEndpoint {
  return {
    ...{ module: 'm', address, registration: 'r', concurrency: 5, weight: 2, version: '1', unit: 'u', labels: {} },
    ...more,
  };
}

const shown = (sources: Parameters<typeof joinEndpoints>[0]): string[] =>
  joinEndpoints(sources).map(({ address, source, concurrency }) => `${address.text} ${Source[source]} ${concurrency}`);

describe('the join', () => {
  it('has each address once: as listed, else as registered, else as resolved', () => {
    const setting = { name: 'm', endpoints: [at('10.0.0.9:1'), at('10.0.0.1:1')], concurrency: 8 };
    const everywhere = ['10.0.0.3:1', '10.0.0.2:1', '10.0.0.1:1'];
    expect(
      shown({
        setting,
        registered: everywhere.slice(1).map((address) => registered(address)),
        resolved: everywhere.map(at),
      }),
    ).toEqual(['10.0.0.9:1 STATIC 8', '10.0.0.1:1 STATIC 8', '10.0.0.2:1 REGISTERED 5', '10.0.0.3:1 DNS 8']);
  });

  it('knows modules that are in no settings', () => {
    expect(shown({ resolved: [], registered: [registered('10.0.0.1:1')] })).toEqual(['10.0.0.1:1 REGISTERED 5']);
  });

  it('is bounded, and the same for every order', () => {
    const many = Array.from({ length: 300 }, (_, index) => registered(`10.0.1.${index % 256}:${index + 1}`));
    const joined = shown({ resolved: [], registered: many });
    expect(joined.length).toBe(256);
    expect(shown({ resolved: [], registered: many.toReversed() })).toEqual(joined);
  });

  it('makes numbers of others harmless, and leaves out what is no address', () => {
    const odd = [
      registered('10.0.0.1:1', { weight: 0, concurrency: -3 }),
      registered('10.0.0.2:1', { weight: 1e9, concurrency: Number.NaN }),
      registered('evil.example:1'),
    ];
    expect(joinEndpoints({ resolved: [], registered: odd })).toMatchObject([
      { weight: 1, concurrency: 1 },
      { weight: 100, concurrency: 1 },
    ]);
  });
});

describe('registrations', () => {
  it('sort after the newest of the same endpoint, by time when clocks agree', () => {
    const first = registrationAfter('', 1_000, 'zzz');
    const second = registrationAfter(first, 2_000, 'aaa');
    const slow = registrationAfter(second, 500, 'aaa');
    expect([slow, second, first].toSorted()).toEqual([first, second, slow]);
    expect(registrationAfter('not one of ours', 7, 'a')).toBe(registrationAfter('', 7, 'a'));
  });

  it('of one module at one address: the newest holds', () => {
    const [old, young] = ['000000000001000-a', '000000000002000-a'];
    const all = [
      registered('10.0.0.1:1', { registration: young }),
      registered('10.0.0.1:1', { registration: old }),
      registered('10.0.0.1:1', { registration: old, module: 'n' }),
    ];
    expect([...newestRegistrations(all).values()]).toMatchObject([
      { module: 'm', registration: young },
      { module: 'n', registration: old },
    ]);
  });
});
