import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import type { RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { InProcessEndpointDirectory } from '../../platform/coordination/in-process-endpoint-directory.ts';
import { Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { readDirectory } from '../modules/configuration.ts';
import { ModuleDirectory } from './module-directory.ts';
import { RegistrationRules } from './registration.ts';

class World {
  readonly clock = new ManualClock();
  readonly directory = new InProcessEndpointDirectory();
  readonly warned: string[] = [];
  /** What the modules have, and how often they were told. */
  readonly endpoints = new Map<string, string[]>();
  told = 0;
  hasRoom = true;
  ips = ['10.0.0.7'];
  readonly following: ModuleDirectory;

  constructor(text: string) {
    const reading = readDirectory(text);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    this.following = new ModuleDirectory(reading.value, {
      ...{ clock: this.clock, random: () => 0, directory: this.directory },
      resolver: { resolve: async () => ({ kind: 'resolved', ips: this.ips, ttlMs: 5_000 }) },
      rules: new RegistrationRules(reading.value),
      modules: {
        setEndpoints: (name, endpoints) => {
          this.told++;
          this.endpoints.set(
            name,
            endpoints.map(({ address, source }) => `${address.text} ${Source[source]}`),
          );
          return this.hasRoom;
        },
      },
      warn: (message) => this.warned.push(message),
    });
  }

  async start(): Promise<void> {
    this.following.start();
    await this.clock.advance(0);
  }

  async publish(module: string, address: string): Promise<RegisteredEndpoint> {
    const endpoint = {
      ...{ module, address, registration: `r-${module}-${address}`, concurrency: 1, weight: 1 },
      ...{ version: '', unit: '', labels: {} },
    };
    await this.directory.publish(endpoint);
    await this.clock.advance(0);
    return endpoint;
  }
}

describe('the module directory', () => {
  it('gives the modules the join of all sources, and follows each', async () => {
    const world = new World(`
modules: { m: { endpoints: ['10.0.0.9:80'], dns: 'm.internal:80', register: true } }
register: ['other']
`);
    await world.publish('m', '10.0.0.8:80');
    await world.start();
    expect(world.endpoints.get('m')).toEqual(['10.0.0.9:80 STATIC', '10.0.0.8:80 REGISTERED', '10.0.0.7:80 DNS']);
    world.ips = ['10.0.0.6'];
    await world.clock.advance(5_000);
    const other = await world.publish('other', '10.0.0.5:80');
    expect(world.endpoints.get('m')).toEqual(['10.0.0.9:80 STATIC', '10.0.0.8:80 REGISTERED', '10.0.0.6:80 DNS']);
    expect(world.endpoints.get('other')).toEqual(['10.0.0.5:80 REGISTERED']);
    await world.directory.withdraw(other);
    await world.clock.advance(0);
    expect(world.endpoints.get('other')).toEqual([]);
    expect(world.warned).toEqual([]);
  });

  it('trusts nobody else with what may be called', async () => {
    const world = new World("{ modules: {}, register: [m], addresses: ['10.0.0.0/24'] }");
    await world.start();
    await world.publish('m', '10.0.0.1:80');
    await world.publish('m', '10.0.1.1:80');
    await world.publish('m', '169.254.169.254:80');
    await world.publish('m', 'evil.example:80');
    await world.publish('n', '10.0.0.2:80');
    expect([...world.endpoints]).toEqual([['m', ['10.0.0.1:80 REGISTERED']]]);
    expect(world.warned).toEqual([
      'module m: a registered endpoint is not called: 10.0.1.1:80 is in none of the allowed networks; they are 10.0.0.0/24',
      'module m: a registered endpoint is not called: 169.254.169.254:80 is link-local, which is never called',
      expect.stringMatching(/^module m: a registered endpoint is not called: "evil.example:80" is no address/),
      'module n: a registered endpoint is not called: 10.0.0.2:80: the module may not register here',
    ]);
  });

  it('tells the modules once of many changes', async () => {
    const world = new World('{ modules: {}, register: [m] }');
    await world.start();
    const before = world.told;
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        world.directory.publish({
          ...{ module: 'm', address: `10.0.0.${index}:80`, registration: `r${index}`, concurrency: 1, weight: 1 },
          ...{ version: '', unit: '', labels: {} },
        }),
      ),
    );
    await world.clock.advance(0);
    expect(world.told - before).toBe(1);
  });

  it('says when there are too many modules', async () => {
    const world = new World('{ modules: {}, register: [m] }');
    world.hasRoom = false;
    await world.start();
    await world.publish('m', '10.0.0.1:80');
    expect(world.warned).toEqual(['module m: there are too many modules that are in no settings; it is not called']);
  });

  it('gives nothing after the stop', async () => {
    const world = new World("{ modules: { m: { dns: 'm.internal:80' } }, register: [n] }");
    await world.start();
    const before = world.told;
    await world.directory.publish({
      ...{ module: 'n', address: '10.0.0.1:80', registration: 'r', concurrency: 1, weight: 1 },
      ...{ version: '', unit: '', labels: {} },
    });
    world.following.stop();
    world.ips = [];
    await world.clock.advance(100_000);
    expect(world.told).toBe(before);
  });
});
