import { afterEach, describe, expect, it, vi } from 'vitest';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type CallContext, type Handlers, implement } from '../../platform/rpc/handlers.ts';
import { startServer } from '../../platform/rpc/server.ts';
import { Directory, type RegisterRequest } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import type { RegisterOptions, ServeOptions } from './index.ts';
import { serveModule } from './index.ts';
import { advertised, checkRegister } from './register-options.ts';
import { Registrar, type RegistrarTimes } from './registrar.ts';

const closers: Array<() => unknown> = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0).reverse()) await close();
});

type Answers = Handlers<typeof Directory>['register'];

/** An engine that answers registrations as a test wants. */
class Engine {
  readonly heard: string[] = [];
  address = '';
  streams = 0;
  open = 0;
  readonly #moved: Array<() => void> = [];

  static async start(answers: (engine: Engine) => Answers): Promise<Engine> {
    const engine = new Engine();
    const register = async function* (requests: AsyncIterable<RegisterRequest>, context: CallContext) {
      engine.streams++;
      engine.open++;
      engine.#change();
      try {
        yield* answers(engine)(engine.#noted(requests), context);
      } finally {
        engine.open--;
        engine.#change();
      }
    };
    const server = await startServer({
      address: '127.0.0.1:0',
      services: [implement(Directory, { listModules: async () => ({}), register })],
      onError: (error) => {
        throw error;
      },
    });
    engine.address = `127.0.0.1:${server.port}`;
    closers.push(() => server.stop(0));
    return engine;
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#moved.push(resolve));
  }

  async *#noted(requests: AsyncIterable<RegisterRequest>): AsyncIterable<RegisterRequest> {
    for await (const request of requests) {
      this.heard.push(request.kind.case ?? '');
      this.#change();
      yield request;
    }
  }

  #change(): void {
    for (const wake of this.#moved.splice(0)) wake();
  }
}

const registered = {
  kind: { case: 'registered', value: { registration: 'r', address: 'a', heartbeatMs: 100 } },
} as const;

/** Takes the registration, answers heartbeats and drains. */
const kind = async function* (requests: AsyncIterable<RegisterRequest>) {
  for await (const { kind } of requests) {
    if (kind.case === 'registration') yield registered;
    else if (kind.case === 'heartbeat') yield { kind: { case: 'heartbeat', value: {} } } as const;
    else yield { kind: { case: 'drained', value: {} } } as const;
  }
};

const quick: RegistrarTimes = {
  ...{ firstPauseMs: 1, longestPauseMs: 8, refusedPauseMs: 3_600_000, openMs: 10_000, drainMs: 10_000 },
};

function keep(engines: readonly Engine[], times: Partial<RegistrarTimes> = {}) {
  const problems: string[] = [];
  const registrar = new Registrar({
    engines: engines.map(({ address }) => address),
    registration: { module: 'test.work', address: ':1' },
    onProblem: (problem) => problems.push(problem),
    times: { ...quick, ...times },
  });
  closers.push(() => registrar.end());
  registrar.start();
  return { registrar, problems };
}

describe('a registered module', { timeout: 20_000 }, () => {
  it('sends heartbeats, drains and ends', async () => {
    const engine = await Engine.start(() => kind);
    const { registrar, problems } = keep([engine]);
    await engine.until(() => engine.heard.length >= 3);
    await registrar.drain();
    expect(engine.heard.slice(0, 2)).toEqual(['registration', 'heartbeat']);
    expect(engine.heard).toContain('draining');
    expect(engine.open).toBe(1);
    registrar.end();
    await engine.until(() => engine.open === 0);
    expect([engine.streams, problems]).toEqual([1, []]);
  });

  it('registers again when its stream breaks', async () => {
    const engine = await Engine.start((self) => (self.streams < 3 ? once : kind));
    keep([engine]);
    await engine.until(() => engine.streams === 3 && engine.heard.includes('heartbeat'));
  });

  it('leaves an engine that is silent', async () => {
    const silent: Answers = async function* (requests) {
      for await (const { kind } of requests) if (kind.case === 'registration') yield registered;
    };
    const engine = await Engine.start((self) => (self.streams === 1 ? silent : kind));
    const { problems } = keep([engine]);
    await engine.until(() => engine.streams === 2);
    expect(problems[0]).toMatch(/: the engine has been silent for \d+ ms$/);
  });

  it('leaves an engine that does not answer the registration', async () => {
    const never: Answers = async function* (requests) {
      for await (const _ of requests) yield* [];
    };
    const engine = await Engine.start((self) => (self.streams === 1 ? never : kind));
    const { problems } = keep([engine], { openMs: 50 });
    await engine.until(() => engine.heard.includes('heartbeat'));
    expect(problems).toEqual([`engine ${engine.address}: no answer within 50 ms`]);
  });

  it('is at another engine before it leaves the one that stops', async () => {
    const gate = Promise.withResolvers<void>();
    const log: string[] = [];
    const stopping: Answers = async function* (requests, { signal }) {
      signal.addEventListener('abort', () => log.push('left'));
      yield registered;
      yield { kind: { case: 'stopping', value: {} } };
      for await (const _ of requests) yield* [];
    };
    const welcoming: Answers = async function* (requests) {
      await gate.promise;
      log.push('welcomed');
      yield* kind(requests);
    };
    let first: Engine | undefined;
    const answers = (self: Engine): Answers => {
      first ??= self;
      return self === first ? stopping : welcoming;
    };
    const engines = [await Engine.start(answers), await Engine.start(answers)];
    keep(engines);
    const started = (engine: Engine) => engine.until(() => engine.streams > 0);
    await Promise.all(engines.map(started));
    expect(first?.open).toBe(1);
    gate.resolve();
    await first?.until(() => first?.open === 0);
    expect(log).toEqual(['welcomed', 'left']);
  });

  it('that was superseded waits long, wherever else it could go', async () => {
    const superseding: Answers = async function* () {
      yield registered;
      yield { kind: { case: 'superseded', value: { registration: 'r2' } } };
    };
    const engines = [await Engine.start(() => superseding), await Engine.start(() => superseding)];
    const told = Promise.withResolvers<void>();
    const registrar = new Registrar({
      engines: engines.map(({ address }) => address),
      registration: { module: 'test.work', address: ':1' },
      onProblem: () => told.resolve(),
      times: { ...quick },
    });
    closers.push(() => registrar.end());
    registrar.start();
    await told.promise;
    await Promise.all(engines.map((engine) => engine.until(() => engine.open === 0)));
    expect(engines.reduce((sum, { streams }) => sum + streams, 0)).toBe(1);
  });

  it('that is refused asks all engines, then waits long', async () => {
    const refusing: Answers = () => {
      throw new RpcError(Code.PERMISSION_DENIED, 'module: no');
    };
    const engines = [await Engine.start(() => refusing), await Engine.start(() => refusing)];
    const { problems } = keep(engines);
    await Promise.all(engines.map((engine) => engine.until(() => engine.streams === 1)));
    await Promise.all(engines.map((engine) => engine.until(() => engine.open === 0)));
    expect(engines.map(({ streams }) => streams)).toEqual([1, 1]);
    expect(problems[0]).toMatch(/^engine 127.0.0.1:\d+: module: no$/);
  });

  it('does not wait for ever for an engine to let it go', async () => {
    const stubborn: Answers = async function* (requests) {
      for await (const { kind } of requests) if (kind.case === 'registration') yield registered;
    };
    const engine = await Engine.start(() => stubborn);
    const { registrar } = keep([engine], { drainMs: 10 });
    await engine.until(() => engine.heard.includes('heartbeat'));
    await registrar.drain();
  });
});

const once: Answers = async function* () {
  yield registered;
};

describe('serveModule', { timeout: 20_000 }, () => {
  const serve = async (options: ServeOptions = {}) => {
    const served = await serveModule(
      { name: 'test.work', input: {}, output: {}, process: () => ({}) },
      { address: '127.0.0.1:0', graceMs: 0, handleSignals: false, ...options },
    );
    closers.push(served.stop);
    return served;
  };

  it('registers at the engines of the environment, unless told not to', async () => {
    const engine = await Engine.start(() => kind);
    vi.stubEnv('WEIR_ENGINES', ` ${engine.address}, `);
    await serve({ register: false });
    const served = await serve();
    await engine.until(() => engine.heard.includes('heartbeat'));
    await served.stop();
    expect(engine.heard.filter((heard) => heard !== 'heartbeat')).toEqual(['registration', 'draining']);
    expect(engine.streams).toBe(1);
  });

  it.each<[RegisterOptions, string]>([
    [{}, 'register.engines is 0 addresses, allowed is 1 to 100, here or in WEIR_ENGINES'],
    [{ engines: ['here'] }, 'register.engines[0] is "here", allowed is host:port'],
    [{ engines: ['http://here:1'] }, 'register.engines[0] is "http://here:1", allowed is host:port'],
    [{ engines: ['a:1'], weight: 0 }, 'register.weight is 0, allowed is a whole number from 1 to 100'],
  ])('refuses %j', async (register, message) => {
    await expect(serve({ register })).rejects.toThrow(new TypeError(message));
  });
});

describe('what is registered', () => {
  it('takes the unit from the environment', () => {
    vi.stubEnv('WEIR_UNIT', 'north');
    expect(checkRegister({ engines: ['a:1', '[::1]:2'] })).toEqual({
      engines: ['a:1', '[::1]:2'],
      ...{ address: undefined, weight: 1, version: '', unit: 'north', labels: {} },
    });
    expect(checkRegister({ engines: ['a:1'], unit: 'south' })?.unit).toBe('south');
    expect(checkRegister(undefined)).toBeUndefined();
  });

  it.each([
    ['127.0.0.1:80', '127.0.0.1:80'],
    ['[fd00::7]:80', '[fd00::7]:80'],
    ['0.0.0.0:80', ':80'],
    ['[::]:80', ':80'],
    ['localhost:80', ':80'],
  ])('listening on %s it is at %s', (bound, address) => expect(advertised(bound)).toBe(address));
});
