// Endpoints that come and go while calls are out and wait. How calls go otherwise is in caller.test.ts, over gRPC.

import { describe, expect, it } from 'vitest';
import type { Answer } from '../../flow/event.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { Health, Source } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { CalledModule } from './called-module.ts';
import { answerOf } from './classify.ts';
import type { EndpointOptions, EndpointPort } from './endpoint.ts';
import { type EndpointSetting, plainEndpoint } from './endpoint-setting.ts';
import type { CallOutcome, ModuleCall } from './port.ts';

const { SUCCEEDED, UNREACHABLE, LOST, OVERLOADED } = Ending;

class FakeEndpoint implements EndpointPort {
  readonly address: string;
  readonly concurrency: number;
  readonly calls: Array<(answer: Answer) => void> = [];
  health = Health.SERVING;
  inFlight = 0;
  isClosed = false;
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.address = options.address.text;
    this.concurrency = options.concurrency;
  }

  send(_request: Buffer, _rowkey: Uint8Array, _timeoutMs: number, answered: (answer: Answer) => void): () => void {
    this.inFlight++;
    let isOut = true;
    this.calls.push((answer) => {
      if (!isOut) return;
      isOut = false;
      this.inFlight--;
      answered(answer);
    });
    return () => {
      if (isOut) this.inFlight--;
      isOut = false;
    };
  }

  answer(ending: Ending, call = this.calls.length - 1): void {
    this.calls[call]?.(answerOf(ending, ''));
  }

  become(health: Health): void {
    this.health = health;
    this.#options.healthChanged();
  }

  close(): void {
    expect(this.isClosed).toBe(false);
    this.isClosed = true;
  }
}

function endpointSetting(port: number, more: Partial<EndpointSetting> = {}): EndpointSetting {
  const text = `127.0.0.1:${port}`;
  return { ...plainEndpoint({ text, target: `ipv4:${text}` }, Source.REGISTERED, 1), registration: 'r1', ...more };
}

class World {
  readonly clock = new ManualClock();
  readonly opened: FakeEndpoint[] = [];
  readonly module: CalledModule;

  constructor(unit = '') {
    this.module = new CalledModule(
      { name: 'm', endpoints: [], concurrency: 1 },
      {
        clock: this.clock,
        random: () => 0,
        unit,
        openEndpoint: (options) => {
          const endpoint = new FakeEndpoint(options);
          this.opened.push(endpoint);
          return endpoint;
        },
      },
    );
  }

  at(index: number): FakeEndpoint {
    const endpoint = this.opened[index];
    if (!endpoint) throw new Error(`no endpoint ${index}`);
    return endpoint;
  }

  call(options: Partial<ModuleCall> = {}): { outcome: CallOutcome | undefined } {
    const told: { outcome: CallOutcome | undefined } = { outcome: undefined };
    const call: ModuleCall = {
      ...{ kind: 'call', isSuspect: false, step: 's', callKey: 'k', module: 'm', round: 1, attempt: 1 },
      ...{ timeoutMs: 30_000, deadlineMs: this.clock.nowMs() + 60_000, fields: [], rowkey: Buffer.from('k') },
      ...{ business: 'b', flow: 'f', level: 5, epoch: 1 },
      ...options,
    };
    this.module.call(call, (outcome) => {
      expect(told.outcome).toBeUndefined();
      told.outcome = outcome;
    });
    return told;
  }
}

const endingOf = ({ outcome }: { outcome: CallOutcome | undefined }) =>
  outcome && [Ending[outcome.answer.ending], outcome.answer.message];

describe('endpoints of a module', () => {
  it('that are new get the calls that wait', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1)]);
    const [first, second] = [world.call(), world.call()];
    expect(world.module.waiting).toBe(1);
    world.module.setEndpoints([endpointSetting(1), endpointSetting(2)]);
    expect(world.module.waiting).toBe(0);
    expect(world.opened.map(({ inFlight }) => inFlight)).toEqual([1, 1]);
    world.at(0).answer(SUCCEEDED);
    world.at(1).answer(SUCCEEDED);
    expect([first, second].map(({ outcome }) => outcome?.answer.ending)).toEqual([SUCCEEDED, SUCCEEDED]);
  });

  it('that are taken away finish what is out, get nothing new, and are closed then', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1), endpointSetting(2)]);
    const out = world.call();
    world.module.setEndpoints([endpointSetting(2)]);
    expect(world.module.endpoints.map(({ address, isLeaving }) => [address, isLeaving])).toEqual([
      ['127.0.0.1:2', false],
      ['127.0.0.1:1', true],
    ]);
    world.call();
    const waiting = world.call();
    expect(world.at(0).calls.length).toBe(1);
    expect(world.at(0).isClosed).toBe(false);
    world.at(0).answer(SUCCEEDED);
    expect(out.outcome?.answer.ending).toBe(SUCCEEDED);
    expect(world.at(0).isClosed).toBe(true);
    expect(waiting.outcome).toBeUndefined();
    expect(world.module.endpoints.map(({ address }) => address)).toEqual(['127.0.0.1:2']);
  });

  it('that are taken away idle are closed at once', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1)]);
    world.module.setEndpoints([]);
    expect(world.at(0).isClosed).toBe(true);
    expect(world.module.isIdle).toBe(true);
  });

  it('that are all gone end the waiting, as nobody reachable: no attempt is spent', async () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1)]);
    const out = world.call();
    const waiting = world.call();
    world.module.setEndpoints([]);
    expect(endingOf(waiting)).toEqual(['UNREACHABLE', 'module m has no endpoint']);
    const late = world.call();
    expect(late.outcome).toBeUndefined();
    await world.clock.advance(0);
    expect(endingOf(late)).toEqual(['UNREACHABLE', 'module m has no endpoint']);
    expect(out.outcome).toBeUndefined();
    expect(world.module.isIdle).toBe(false);
    world.at(0).answer(LOST);
    expect(out.outcome?.answer.ending).toBe(LOST);
    expect(world.module.isIdle).toBe(true);
  });

  it('that stay the same stay connected; another registration of an address is another endpoint', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1), endpointSetting(2)]);
    world.module.setEndpoints([endpointSetting(2), endpointSetting(1)]);
    expect(world.opened.length).toBe(2);
    world.module.setEndpoints([endpointSetting(2), endpointSetting(1, { registration: 'r2' })]);
    expect(world.opened.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
  });

  it('that are taken away while a call fails over leave it those that are there now', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1), endpointSetting(2)]);
    const [declined, alone] = [world.call(), world.call()];
    world.module.setEndpoints([endpointSetting(3)]);
    world.at(0).answer(OVERLOADED);
    expect(world.at(2).calls.length).toBe(1);
    world.at(2).answer(SUCCEEDED);
    expect(declined.outcome?.tries.map(({ endpoint }) => endpoint)).toEqual(['127.0.0.1:1', '127.0.0.1:3']);
    world.module.setEndpoints([]);
    world.at(1).answer(UNREACHABLE);
    expect(alone.outcome?.answer.ending).toBe(UNREACHABLE);
  });

  it('are tried where a call was lost when no other is left', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1), endpointSetting(2)]);
    const avoid = '127.0.0.1:1';
    world.call({ avoid });
    world.call({ avoid });
    expect(world.opened.map(({ inFlight }) => inFlight)).toEqual([0, 1]);
    expect(world.module.waiting).toBe(1);
    world.module.setEndpoints([endpointSetting(1)]);
    expect(world.opened.map(({ inFlight }) => inFlight)).toEqual([1, 1]);
  });

  it('of the own unit go first', () => {
    const world = new World('north');
    const units = ['south', 'north', ''].map((unit, index) => endpointSetting(index + 1, { unit, concurrency: 2 }));
    world.module.setEndpoints(units);
    for (let call = 0; call < 4; call++) world.call();
    expect(world.opened.map(({ inFlight }) => inFlight)).toEqual([0, 2, 2]);
    world.call();
    expect(world.at(0).inFlight).toBe(1);
  });

  it('are closed with the module, whatever is out', () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1)]);
    const [out, waiting] = [world.call(), world.call()];
    world.module.setEndpoints([endpointSetting(2)]);
    world.module.close();
    expect(world.opened.map(({ isClosed }) => isClosed)).toEqual([true, true]);
    world.module.setEndpoints([endpointSetting(3)]);
    expect(world.opened.length).toBe(2);
    expect([out.outcome, waiting.outcome]).toEqual([undefined, undefined]);
  });
});

describe('an endpoint whose last calls failed', () => {
  function failing(): World {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1, { concurrency: 9 }), endpointSetting(2, { concurrency: 9 })]);
    for (let call = 0; call < 3; call++) {
      world.call({ avoid: '127.0.0.1:2' });
      world.at(0).answer(LOST);
    }
    return world;
  }
  const goesTo = (world: World): string | undefined => {
    world.call();
    const index = world.opened.findIndex(({ inFlight }) => inFlight > 0);
    world.opened[index]?.answer(SUCCEEDED);
    return world.opened[index]?.address;
  };

  it('is left aside for a while; then one more failure is enough', async () => {
    const world = failing();
    expect(world.module.endpoints.map(({ isFailing }) => isFailing)).toEqual([true, false]);
    expect(goesTo(world)).toBe('127.0.0.1:2');
    await world.clock.advance(5_000);
    world.call({ avoid: '127.0.0.1:2' });
    world.at(0).answer(UNREACHABLE);
    world.at(1).answer(SUCCEEDED);
    expect(world.module.endpoints.map(({ isFailing }) => isFailing)).toEqual([true, false]);
    await world.clock.advance(5_000);
    expect(goesTo(world)).toBe('127.0.0.1:1');
    expect(world.module.endpoints.map(({ isFailing }) => isFailing)).toEqual([false, false]);
  });

  it('is back when its health is found serving', () => {
    const world = failing();
    world.at(0).become(Health.UNKNOWN);
    expect(goesTo(world)).toBe('127.0.0.1:2');
    world.at(0).become(Health.SERVING);
    expect(goesTo(world)).toBe('127.0.0.1:1');
  });

  it('is back when a call that was out has an answer, and takes those that wait', async () => {
    const world = new World();
    world.module.setEndpoints([endpointSetting(1, { concurrency: 4 }), endpointSetting(2)]);
    const avoid = '127.0.0.1:2';
    for (let call = 0; call < 4; call++) world.call({ avoid });
    for (let call = 0; call < 3; call++) world.at(0).answer(LOST, call);
    world.call();
    world.call();
    expect([world.at(1).inFlight, world.module.waiting]).toEqual([1, 1]);
    world.at(0).answer(OVERLOADED, 3);
    expect(world.module.waiting).toBe(1);
    expect(world.at(0).inFlight).toBe(1);
    await world.clock.advance(0);
  });

  it('takes those that wait when its time is over', async () => {
    const world = failing();
    for (let call = 0; call < 10; call++) world.call();
    expect([world.at(0).inFlight, world.module.waiting]).toEqual([0, 1]);
    await world.clock.advance(5_000);
    expect([world.at(0).inFlight, world.module.waiting]).toEqual([1, 0]);
  });

  it('is called all the same when it is the only one', () => {
    const world = failing();
    world.module.setEndpoints([endpointSetting(1, { concurrency: 9 })]);
    expect(goesTo(world)).toBe('127.0.0.1:1');
  });
});
