import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { GrpcModules } from './caller.ts';
import { readModules } from './configuration.ts';
import { freePort } from './free-port.ts';
import type { CallOutcome, ModuleCall } from './port.ts';
import { ScriptedModule } from './scripted-module.ts';

const clock = new ManualClock();
const closers: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function open(endpoints: ReadonlyArray<string | ScriptedModule>, concurrency = 64, random = Math.random): GrpcModules {
  const addresses = endpoints.map((endpoint) => (typeof endpoint === 'string' ? endpoint : endpoint.address));
  const reading = readModules(JSON.stringify({ modules: { m: { endpoints: addresses, concurrency } } }));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const modules = new GrpcModules(reading.value, { clock, random });
  closers.push(() => modules.close());
  for (const endpoint of endpoints) if (typeof endpoint !== 'string') closers.push(() => endpoint.stop());
  return modules;
}

function makeCall(options: Partial<ModuleCall> = {}): ModuleCall {
  return {
    kind: 'call',
    isSuspect: false,
    step: 'step',
    callKey: 'key',
    module: 'm',
    round: 1,
    attempt: 1,
    timeoutMs: 30_000,
    deadlineMs: clock.nowMs() + 60_000,
    fields: [],
    rowkey: Buffer.from('key'),
    business: 'test',
    flow: 'flow',
    level: 5,
    epoch: 1,
    ...options,
  };
}

const call = (modules: GrpcModules, options: Partial<ModuleCall> = {}): Promise<CallOutcome> =>
  new Promise((resolve) => modules.call(makeCall(options), resolve));

const names = ({ answer, tries }: CallOutcome): string[] => [
  ...tries.map(({ ending }) => Ending[ending]),
  `= ${Ending[answer.ending]}`,
];

/** Lets events of the network happen until the endpoints are as they should be. */
async function healthy(modules: GrpcModules, ...health: Health[]): Promise<void> {
  const now = (): string => JSON.stringify(modules.view()[0]?.endpoints.map((endpoint) => endpoint.health));
  while (now() !== JSON.stringify(health)) await new Promise((resolve) => setImmediate(resolve));
}

const { SERVING, NOT_SERVING, UNREACHABLE } = Health;

describe('a module that is not there', () => {
  it('is named, with those that are', async () => {
    const modules = open([`127.0.0.1:${await freePort()}`]);
    const told: CallOutcome[] = [];
    modules.call(makeCall({ module: 'n' }), (outcome) => told.push(outcome));
    modules.call(makeCall({ module: 'n' }), (outcome) => told.push(outcome)).abort();
    expect(modules.call(makeCall({ module: 'n' }), () => {}).withdraw()).toBe(false);
    expect(told).toEqual([]);
    await clock.advance(0);
    expect(told).toMatchObject([
      { answer: { ending: Ending.UNREACHABLE, message: 'module n is not in the directory; known are m' }, tries: [] },
    ]);
  });
});

describe('another endpoint', () => {
  const { SUCC: succ, SVR_OVER_LOAD: overload, NO_AUTH: noAuth } = ReturnCode;

  it('takes a call that was declined for overload', async () => {
    const endpoints = [await ScriptedModule.answering(overload), await ScriptedModule.answering(succ)];
    const modules = open(endpoints, 64, () => 0);
    await healthy(modules, SERVING, SERVING);
    expect(names(await call(modules))).toEqual(['OVERLOADED', 'SUCCEEDED', '= SUCCEEDED']);
  });

  it('is asked until none is left', async () => {
    const endpoints = await Promise.all([1, 2, 3].map(() => ScriptedModule.answering(overload)));
    expect(names(await call(open(endpoints)))).toEqual(['OVERLOADED', 'OVERLOADED', 'OVERLOADED', '= OVERLOADED']);
    expect(endpoints.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
  });

  it('goes elsewhere when the call was lost here before, where there is another', async () => {
    const [lost, other] = [await ScriptedModule.answering(succ), await ScriptedModule.answering(succ)];
    const modules = open([lost, other]);
    await healthy(modules, SERVING, SERVING);
    for (let round = 0; round < 20; round++) {
      const { tries } = await call(modules, { avoid: lost.address });
      expect(tries.map(({ endpoint }) => endpoint)).toEqual([other.address]);
    }
    const alone = open([lost]);
    await healthy(alone, SERVING);
    const { tries } = await call(alone, { avoid: lost.address });
    expect(tries.map(({ endpoint }) => endpoint)).toEqual([lost.address]);
  });

  it('that is not reached leaves the overload to speak for the module', async () => {
    const modules = open([`127.0.0.1:${await freePort()}`, await ScriptedModule.answering(overload)]);
    await healthy(modules, UNREACHABLE, SERVING);
    expect(names(await call(modules))).toEqual(['UNREACHABLE', 'OVERLOADED', '= OVERLOADED']);
  });

  it('confirms a refusal, or takes the call', async () => {
    const refusing = await Promise.all([1, 2, 3].map(() => ScriptedModule.answering(noAuth)));
    const modules = open(refusing);
    expect(names(await call(modules))).toEqual(['NO_AUTH', 'NO_AUTH', '= NO_AUTH']);
    const mixed = open([await ScriptedModule.answering(noAuth), await ScriptedModule.answering(succ)], 64, () => 0);
    await healthy(mixed, SERVING, SERVING);
    expect(names(await call(mixed))).toEqual(['NO_AUTH', 'SUCCEEDED', '= SUCCEEDED']);
    expect(names(await call(open([await ScriptedModule.answering(noAuth)])))).toEqual(['NO_AUTH', '= NO_AUTH']);
  });

  it('gets the time that is left, and none when nothing is', async () => {
    const [slow, next] = [await ScriptedModule.start(), await ScriptedModule.answering(overload)];
    const modules = open([slow, next], 64, () => 0);
    await healthy(modules, SERVING, SERVING);
    const first = call(modules, { timeoutMs: 10_000 });
    await slow.arrived(1);
    await clock.advance(4_000);
    slow.held[0]?.answer({ code: overload });
    const { tries } = await first;
    expect(tries.map(({ durationUs }) => durationUs)).toEqual([4_000_000, 0]);
    expect([slow, next].map(({ requests }) => requests.at(-1)?.timeoutMs)).toEqual([10_000n, 6_000n]);

    const second = call(modules, { timeoutMs: 10_000 });
    await slow.arrived(2);
    await clock.advance(10_000);
    slow.held[1]?.answer({ code: overload });
    expect(names(await second)).toEqual(['OVERLOADED', '= OVERLOADED']);
  });
});

describe('a module that is full', () => {
  it('lets calls wait by level, then arrival; each free place lets the next one go', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 2);
    const calls = [5, 5, 9, 5, 1, 5].map((level, index) => call(modules, { level, step: `s${index}` }));
    await endpoint.arrived(2);
    expect(modules.view()).toMatchObject([{ waiting: 4, endpoints: [{ inFlight: 2, concurrency: 2 }] }]);
    for (let arrived = 2; arrived <= 6; arrived++) {
      await endpoint.arrived(arrived);
      endpoint.held[arrived - 2]?.answer({ code: 0 });
    }
    endpoint.held[5]?.answer({ code: 0 });
    await Promise.all(calls);
    expect(endpoint.requests.map(({ step }) => step).slice(2)).toEqual(['s4', 's3', 's5', 's2']);
    expect(modules.view()).toMatchObject([{ waiting: 0, endpoints: [{ inFlight: 0 }] }]);
  });

  it('waiting costs nothing of the time for the call', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 1);
    const [first, second] = [call(modules), call(modules, { timeoutMs: 5_000 })];
    await endpoint.arrived(1);
    await clock.advance(20_000);
    endpoint.held[0]?.answer({ code: 0 });
    await endpoint.arrived(2);
    expect(endpoint.requests[1]?.timeoutMs).toBe(5_000n);
    endpoint.held[1]?.answer({ code: 0 });
    expect((await second).tries[0]?.durationUs).toBe(0);
    await first;
  });

  it('waiting ends at the deadline of the run', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 1);
    void call(modules);
    const waiting = call(modules, { deadlineMs: clock.nowMs() + 7_000 });
    await endpoint.arrived(1);
    await clock.advance(7_000);
    expect(await waiting).toMatchObject({
      answer: {
        ending: Ending.OVERLOADED,
        message: 'waited 7000 ms for one of 1 places at m, until the deadline of the run',
      },
      tries: [],
    });
    expect(modules.view()[0]?.waiting).toBe(0);
  });

  it('a run without time left is not called for', async () => {
    const endpoint = await ScriptedModule.answering(ReturnCode.SUCC);
    const late = call(open([endpoint]), { deadlineMs: clock.nowMs() });
    await clock.advance(0);
    expect(names(await late)).toEqual(['= OVERLOADED']);
    expect(endpoint.requests).toEqual([]);
  });

  it('waits for a serving endpoint even when others are free', async () => {
    const [serving, out] = [await ScriptedModule.start(), await ScriptedModule.answering(ReturnCode.SUCC)];
    out.serve(false);
    const modules = open([serving, out], 1);
    await healthy(modules, SERVING, NOT_SERVING);
    void call(modules);
    const second = call(modules);
    await serving.arrived(1);
    expect(modules.view()[0]?.waiting).toBe(1);
    out.serve(true);
    expect((await second).tries).toMatchObject([{ endpoint: out.address }]);
  });
});

describe('a suspect', () => {
  it('goes alone among suspects at an endpoint, and others pass it', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 3);
    const suspects = ['s1', 's2', 's3'].map((step) => call(modules, { step, isSuspect: true }));
    const others = ['o1', 'o2'].map((step) => call(modules, { step }));
    await endpoint.arrived(3);
    expect(endpoint.requests.map(({ step }) => step)).toEqual(['s1', 'o1', 'o2']);
    expect(modules.view()).toMatchObject([{ waiting: 2, endpoints: [{ inFlight: 3 }] }]);
    for (const done of [1, 2, 0, 3, 4]) endpoint.held[done]?.answer({ code: 0 });
    await Promise.all(others);
    expect(endpoint.requests.slice(3)).toEqual([]);
    await suspects[0];
    for (const [index, step] of ['s2', 's3'].entries()) {
      await endpoint.arrived(4 + index);
      expect(endpoint.requests.map((request) => request.step).slice(3)).toEqual(['s2', 's3'].slice(0, index + 1));
      expect(endpoint.requests.at(-1)?.step).toBe(step);
      endpoint.held[3 + index]?.answer({ code: 0 });
      await suspects[1 + index];
    }
  });

  it('goes at the same time to another endpoint, and makes place when it is aborted', async () => {
    const endpoints = [await ScriptedModule.start(), await ScriptedModule.start()] as const;
    const modules = open(endpoints, 3);
    await healthy(modules, SERVING, SERVING);
    const pending = [1, 2, 3].map(() => modules.call(makeCall({ isSuspect: true }), () => {}));
    await Promise.all(endpoints.map((endpoint) => endpoint.arrived(1)));
    expect(modules.view()[0]?.waiting).toBe(1);
    pending[0]?.abort();
    expect(modules.view()[0]?.waiting).toBe(0);
    await Promise.race(endpoints.map((endpoint) => endpoint.arrived(2)));
  });
});

describe('an abort', () => {
  it('cancels a call that is out, gives its place to the next, and nothing is told', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 1);
    let told = 0;
    const pending = modules.call(makeCall({ step: 'first' }), () => told++);
    const second = call(modules, { step: 'second' });
    await endpoint.arrived(1);
    pending.abort();
    pending.abort();
    await endpoint.arrived(2);
    expect(endpoint.held[0]?.signal.aborted).toBe(true);
    expect(modules.view()).toMatchObject([{ endpoints: [{ inFlight: 1 }] }]);
    endpoint.held[1]?.answer({ code: 0 });
    await second;
    expect(told).toBe(0);
  });

  it('takes a call out of the line', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 1);
    const first = call(modules);
    let told = 0;
    const pending = modules.call(makeCall(), () => told++);
    await endpoint.arrived(1);
    expect(modules.view()[0]?.waiting).toBe(1);
    pending.abort();
    expect(modules.view()[0]?.waiting).toBe(0);
    endpoint.held[0]?.answer({ code: 0 });
    await first;
    await clock.advance(100_000);
    expect([told, endpoint.requests.length]).toEqual([0, 1]);
  });

  it('closing aborts everything', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 1);
    let told = 0;
    for (let index = 0; index < 3; index++) modules.call(makeCall(), () => told++);
    await endpoint.arrived(1);
    modules.close();
    expect(modules.view()).toMatchObject([{ waiting: 0, endpoints: [{ inFlight: 0 }] }]);
    await clock.advance(100_000);
    expect(told).toBe(0);
    const late = call(modules);
    await clock.advance(0);
    expect(names(await late)).toEqual(['= UNREACHABLE']);
  });
});

describe('a withdrawal', () => {
  it('takes a call out of the line, once, and nothing is told', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint], 1);
    const first = call(modules);
    let told = 0;
    const pending = modules.call(makeCall(), () => told++);
    expect([pending.withdraw(), pending.withdraw()]).toEqual([true, false]);
    expect(modules.view()[0]?.waiting).toBe(0);
    await endpoint.arrived(1);
    endpoint.held[0]?.answer({ code: 0 });
    await first;
    await clock.advance(100_000);
    expect([told, endpoint.requests.length]).toEqual([0, 1]);
  });

  it('leaves a call that is out, and one that is over', async () => {
    const endpoint = await ScriptedModule.start();
    const modules = open([endpoint]);
    const told: CallOutcome[] = [];
    const done = Promise.withResolvers<void>();
    const pending = modules.call(makeCall(), (outcome) => {
      told.push(outcome);
      done.resolve();
    });
    expect(pending.withdraw()).toBe(false);
    await endpoint.arrived(1);
    expect(endpoint.held[0]?.signal.aborted).toBe(false);
    endpoint.held[0]?.answer({ code: 0 });
    await done.promise;
    expect(pending.withdraw()).toBe(false);
    pending.abort();
    expect(told.map(names)).toEqual([['SUCCEEDED', '= SUCCEEDED']]);
  });

  it('leaves a call that was declined and waits for another endpoint', async () => {
    const [full, overloaded] = [await ScriptedModule.start(), await ScriptedModule.start()];
    const modules = open([overloaded, full], 1, () => 0);
    await healthy(modules, SERVING, SERVING);
    const declined = Promise.withResolvers<CallOutcome>();
    const pending = modules.call(makeCall(), declined.resolve);
    const other = call(modules);
    await Promise.all([overloaded.arrived(1), full.arrived(1)]);
    overloaded.held[0]?.answer({ code: ReturnCode.SVR_OVER_LOAD });
    while (modules.view()[0]?.waiting !== 1) await new Promise((resolve) => setImmediate(resolve));
    expect(pending.withdraw()).toBe(false);
    full.held[0]?.answer({ code: 0 });
    await full.arrived(2);
    full.held[1]?.answer({ code: 0 });
    expect(names(await declined.promise)).toEqual(['OVERLOADED', 'SUCCEEDED', '= SUCCEEDED']);
    await other;
  });
});

describe('a request', () => {
  it('that is too large is not sent', async () => {
    const endpoint = await ScriptedModule.answering(ReturnCode.SUCC);
    const large = call(open([endpoint]), { fields: [['body', { bytes: new Uint8Array(4_300_000) }]] });
    await clock.advance(0);
    const { answer, tries } = await large;
    expect(answer).toMatchObject({
      ending: Ending.VIOLATION,
      message: expect.stringMatching(/^the request has 43000\d\d bytes, at most 4259840 are allowed$/),
    });
    expect(tries).toEqual([]);
    expect(endpoint.requests).toEqual([]);
  });

  it('of the largest allowed size arrives, and so does such an answer', async () => {
    const endpoint = await ScriptedModule.start();
    const value = new Uint8Array(1024 * 1024);
    endpoint.script = ({ fields }) => ({ code: 0, fields });
    const { answer } = await call(open([endpoint]), {
      fields: ['a', 'b', 'c', 'd'].map((name) => [name, { bytes: value }]),
    });
    expect(Ending[answer.ending]).toBe('SUCCEEDED');
    expect([...answer.fields.values()].map(({ bytes }) => bytes.length)).toEqual(
      [1, 1, 1, 1].map((n) => n * 1024 * 1024),
    );
  });
});
