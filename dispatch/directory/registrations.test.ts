import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import type { RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { InProcessEndpointDirectory } from '../../platform/coordination/in-process-endpoint-directory.ts';
import { type Channel, channelPair } from '../../platform/rpc/channel.ts';
import { Code } from '../../platform/rpc/error.ts';
import {
  type RegisterRequest,
  RegisterRequestSchema,
  type RegisterResponse,
} from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { heartbeatMs, type Lease, maxMessages, silenceMs } from './lease.ts';
import { RegistrationRules } from './registration.ts';
import { maxLeasesOfConnection, Registrations } from './registrations.ts';

type Said = Exclude<MessageInitShape<typeof RegisterRequestSchema>['kind'], undefined>;

/** Publishing takes as long as a test wants, or fails. */
class SlowDirectory extends InProcessEndpointDirectory {
  readonly log: string[] = [];
  before = (): Promise<void> => Promise.resolve();

  override async publish(endpoint: RegisteredEndpoint): Promise<void> {
    this.log.push('publish');
    await this.before();
    await super.publish(endpoint);
  }

  override async withdraw(endpoint: RegisteredEndpoint): Promise<void> {
    this.log.push('withdraw');
    await super.withdraw(endpoint);
  }
}

class World {
  readonly clock = new ManualClock();
  readonly directory: SlowDirectory;
  readonly errors: string[] = [];
  readonly registrations: Registrations;
  #id = 0;

  constructor(directory = new SlowDirectory()) {
    this.directory = directory;
    const setting = { modules: [], register: ['m', 'n'], networks: ['127.0.0.0/8'] };
    this.registrations = new Registrations({
      ...{ clock: this.clock, directory, rules: new RegistrationRules(setting) },
      ids: { next: () => `id-${this.#id++}` },
      onError: (error, doing) => this.errors.push(`${doing}: ${error instanceof Error ? error.message : ''}`),
    });
  }

  open(peer = '127.0.0.1:50000'): Endpoint {
    const [here, there] = channelPair<RegisterRequest, RegisterResponse>((action) => this.clock.soon(action));
    return new Endpoint(here, this.registrations.open(there, peer));
  }

  async register(address = ':1', module = 'm'): Promise<Endpoint> {
    const endpoint = this.open();
    endpoint.say({ case: 'registration', value: { module, address } });
    await this.clock.advance(0);
    return endpoint;
  }
}

class Endpoint {
  readonly heard: string[] = [];
  readonly lease: Lease;
  readonly #channel: Channel<RegisterRequest, RegisterResponse>;

  constructor(channel: Channel<RegisterRequest, RegisterResponse>, lease: Lease) {
    this.#channel = channel;
    this.lease = lease;
    channel.listen(({ kind }) => this.heard.push(kind.case ?? ''));
    channel.onClose(() => this.heard.push('end'));
  }

  say(kind: Said): void {
    this.#channel.send(create(RegisterRequestSchema, { kind }));
  }

  leave(): void {
    this.#channel.close();
  }
}

const beat: Said = { case: 'heartbeat', value: {} };

describe('a lease', () => {
  it('publishes the endpoint while the stream lives', async () => {
    const world = new World();
    const endpoint = await world.register();
    expect(endpoint.heard).toEqual(['registered']);
    expect(world.directory.endpoints()).toMatchObject([{ module: 'm', address: '127.0.0.1:1', concurrency: 64 }]);
    endpoint.leave();
    await world.clock.advance(0);
    expect(world.directory.endpoints()).toEqual([]);
    expect(world.directory.log).toEqual(['publish', 'withdraw']);
  });

  it('withdraws at draining, and says so; the stream goes on', async () => {
    const world = new World();
    const endpoint = await world.register();
    endpoint.say({ case: 'draining', value: {} });
    await world.clock.advance(0);
    expect(world.directory.endpoints()).toEqual([]);
    endpoint.say(beat);
    await world.clock.advance(0);
    expect(endpoint.heard).toEqual(['registered', 'drained', 'heartbeat']);
    endpoint.leave();
    await world.clock.advance(0);
    expect(world.directory.log).toEqual(['publish', 'withdraw']);
  });

  it('lives as long as heartbeats come, and ends some time after the last', async () => {
    const world = new World();
    const endpoint = await world.register();
    for (let beats = 0; beats < 10; beats++) {
      await world.clock.advance(silenceMs - 1);
      endpoint.say(beat);
    }
    await world.clock.advance(silenceMs - 1);
    expect(world.directory.endpoints().length).toBe(1);
    await world.clock.advance(2);
    expect(world.directory.endpoints()).toEqual([]);
    expect(endpoint.heard.at(-1)).toBe('end');
    expect(endpoint.lease.refusal).toMatchObject({ code: Code.DEADLINE_EXCEEDED });
  });

  it('that never registers ends too', async () => {
    const world = new World();
    const endpoint = world.open();
    await world.clock.advance(silenceMs);
    expect(endpoint.lease.refusal).toMatchObject({ code: Code.DEADLINE_EXCEEDED });
    expect(world.directory.log).toEqual([]);
  });

  it('bears heartbeats that are too many, up to a limit', async () => {
    const world = new World();
    const endpoint = await world.register();
    for (let rounds = 0; rounds < 3; rounds++) {
      for (let beats = 0; beats < maxMessages - 1; beats++) endpoint.say(beat);
      await world.clock.advance(heartbeatMs);
    }
    expect(endpoint.lease.refusal).toBeUndefined();
    for (let beats = 0; beats <= maxMessages; beats++) endpoint.say(beat);
    await world.clock.advance(0);
    expect(endpoint.lease.refusal).toMatchObject({ code: Code.RESOURCE_EXHAUSTED });
    expect(world.directory.endpoints()).toEqual([]);
  });

  it('begins with a registration, and has one', async () => {
    const world = new World();
    const early = world.open();
    early.say(beat);
    const twice = await world.register();
    twice.say({ case: 'registration', value: { module: 'm', address: ':2' } });
    await world.clock.advance(0);
    expect(early.lease.refusal?.message).toBe('kind: found heartbeat, allowed is a registration as the first message');
    expect(twice.lease.refusal?.message).toBe('registration: found a second one, allowed is one for each stream');
    expect(world.directory.endpoints()).toEqual([]);
  });

  it('bears messages that are newer than this dispatch', async () => {
    const world = new World();
    const endpoint = await world.register();
    endpoint.say({ case: undefined });
    await world.clock.advance(0);
    expect(endpoint.lease.refusal).toBeUndefined();
  });

  it('refuses what the rules refuse', async () => {
    const world = new World();
    const endpoint = await world.register(':1', 'other');
    expect(endpoint.heard).toEqual(['end']);
    expect(endpoint.lease.refusal).toMatchObject({ code: Code.PERMISSION_DENIED });
    expect(world.directory.log).toEqual([]);
  });

  it('that ends while it is being published is withdrawn after that', async () => {
    const gate = Promise.withResolvers<void>();
    const world = new World();
    world.directory.before = () => gate.promise;
    const endpoint = await world.register();
    endpoint.leave();
    await world.clock.advance(0);
    expect(world.directory.log).toEqual(['publish']);
    gate.resolve();
    await world.clock.advance(0);
    expect(world.directory.log).toEqual(['publish', 'withdraw']);
    expect(world.directory.endpoints()).toEqual([]);
  });

  it('that can not be published is refused, so that the endpoint goes elsewhere', async () => {
    const world = new World();
    world.directory.before = () => Promise.reject(new Error('away'));
    const endpoint = await world.register();
    expect(endpoint.lease.refusal).toMatchObject({ code: Code.UNAVAILABLE });
    expect(world.errors).toEqual(['publishing m at 127.0.0.1:1: away']);
    expect(world.directory.log).toEqual(['publish', 'withdraw']);
  });
});

describe('registrations', () => {
  it('of one address: the newer one wins, and the older one is told', async () => {
    const world = new World();
    const [first, second] = [await world.register(), await world.register()];
    expect(first.heard).toEqual(['registered', 'superseded', 'end']);
    expect(first.lease.refusal).toBeUndefined();
    expect(second.heard).toEqual(['registered']);
    expect(world.directory.endpoints().length).toBe(1);
    await world.register(':1', 'n');
    expect(second.heard).toEqual(['registered']);
  });

  it('at two dispatches: the same, whatever their clocks say', async () => {
    const shared = new SlowDirectory();
    const [fast, slow] = [new World(shared), new World(shared)];
    await fast.clock.advance(3_600_000);
    const first = await fast.register();
    const second = await slow.register();
    await fast.clock.advance(0);
    expect(first.heard).toEqual(['registered', 'superseded', 'end']);
    expect(second.heard).toEqual(['registered']);
    const third = await fast.register();
    await slow.clock.advance(0);
    expect(second.heard).toEqual(['registered', 'superseded', 'end']);
    expect(third.heard).toEqual(['registered']);
  });

  it('are told when their dispatch stops, and stay until they leave', async () => {
    const world = new World();
    const endpoint = await world.register();
    endpoint.lease.stopping();
    await world.clock.advance(0);
    expect(endpoint.heard).toEqual(['registered', 'stopping']);
    expect(world.directory.endpoints().length).toBe(1);
  });

  it('are bounded for each connection', async () => {
    const world = new World();
    for (let stream = 0; stream < maxLeasesOfConnection; stream++) await world.register(`:${stream + 1}`);
    const beyond = world.open();
    expect(beyond.lease.refusal).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      message: 'found more registrations of one connection, allowed are 64',
    });
    expect(world.open('127.0.0.1:50001').lease.refusal).toBeUndefined();
  });

  it('are bounded for each module; an address that is there may come again', async () => {
    const world = new World();
    for (let port = 1; port <= 256; port++) {
      const endpoint = world.open(`127.0.0.1:${port}`);
      endpoint.say({ case: 'registration', value: { module: 'm', address: `:${port}` } });
      await world.clock.advance(0);
    }
    const beyond = world.open('127.0.0.1:999');
    beyond.say({ case: 'registration', value: { module: 'm', address: ':999' } });
    const again = world.open('127.0.0.1:998');
    again.say({ case: 'registration', value: { module: 'm', address: ':1' } });
    await world.clock.advance(0);
    expect(beyond.lease.refusal?.message).toBe('module: m has 256 registered endpoints, at most 256 are allowed');
    expect(again.heard).toEqual(['registered']);
  });
});
