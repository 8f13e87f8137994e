// What releases and routes decide for items that are submitted, over the services of an engine.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect } from '../../../platform/rpc/client.ts';
import { Flows } from '../../../proto/gen/weir/flow/v1/flows_pb.js';
import { Routes } from '../../../proto/gen/weir/flow/v1/routes_pb.js';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Refusal } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { bytes, item, name, options, startWorld, untilState, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

async function using<S extends typeof Flows | typeof Routes, R>(service: S, ask: (client: Client<S>) => Promise<R>) {
  const client = connect(service, world.engine.address);
  try {
    return await ask(client);
  } finally {
    client.close();
  }
}

const releaseRoutes = (text: string) =>
  using(Routes, async (routes) => {
    const { problems } = await routes.push({ text, release: true }, options);
    expect(problems).toEqual([]);
  });

/** An item that names no flow. */
const routedItem = (key: string, text = 'text') => ({ ...item('', key, text) });

async function submit(items: ReadonlyArray<ReturnType<typeof item>>) {
  const { results } = await world.client.submit({ items: [...items] }, options);
  return results.map(({ result }) => {
    if (result.case === 'accepted') return { flow: result.value.run?.flow, created: result.value.created };
    return { refusal: result.value?.refusal, field: result.value?.field, message: result.value?.message };
  });
}

describe('an item without a flow', () => {
  it('is refused while no routes are released', async () => {
    expect(await submit([routedItem('early')])).toEqual([
      {
        refusal: Refusal.UNROUTED,
        field: 'flow',
        message: 'is absent, and no routes of business test are released; name a flow',
      },
    ]);
  });

  it('is routed by its fields and its level', async () => {
    await releaseRoutes(`
business: test
fields: { text: string }
rules:
  - { when: "level == 1", flow: gated }
  - { when: "text.startsWith('f')", flow: fragile }
  - { when: "text.startsWith('e')", flow: echo }
otherwise: refuse
`);
    const results = await submit([
      routedItem('echoed', 'echo'),
      routedItem('broken', 'fragile'),
      { ...routedItem('first', 'echo'), level: 1 },
      routedItem('nowhere', 'x'),
      { ...routedItem('empty'), fields: [] },
    ]);
    expect(results).toMatchObject([
      { flow: 'echo', created: true },
      { flow: 'fragile', created: true },
      { flow: 'gated', created: true },
      { refusal: Refusal.UNROUTED, message: 'is absent, and no rule of business test takes the item' },
      {
        refusal: Refusal.INVALID,
        field: 'fields',
        message: 'routes of business test: rules[1].when: field text is absent and has no default',
      },
    ]);
    await untilState(world, 'echo', 'echoed', State.SUCCEEDED);
  });

  it('has one run, whatever is released before it is sent again', async () => {
    expect(await submit([routedItem('moved', 'echo')])).toMatchObject([{ flow: 'echo', created: true }]);
    await releaseRoutes('{ business: test, rules: [], otherwise: fragile }');
    expect(await submit([routedItem('moved', 'echo'), routedItem('later', 'echo')])).toMatchObject([
      { flow: 'echo', created: false },
      { flow: 'fragile', created: true },
    ]);
    await world.restart();
    const [again, other] = await submit([routedItem('moved', 'echo'), routedItem('moved', 'other')]);
    expect(again).toEqual({ flow: 'echo', created: false });
    expect(other).toMatchObject({ refusal: Refusal.CONFLICT });
    const { runs } = await world.client.list({ filter: { business: 'test' } }, options);
    expect(runs.filter((run) => Buffer.from(run.name?.key ?? []).toString() === 'moved')).toHaveLength(1);
  });

  it('has one run when it is sent many times at once, while routes change', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `storm-${index}`);
    const release = async () => {
      for (const flow of ['echo', 'fragile', 'echo']) {
        await releaseRoutes(`{ business: test, rules: [], otherwise: ${flow} }`);
      }
    };
    const rounds = await Promise.all([
      ...Array.from({ length: 6 }, () => submit(keys.map((key) => routedItem(key)))),
      release(),
    ]);
    for (const index of keys.keys()) {
      const flows = rounds.flatMap((round) => (round ? [round[index]] : []));
      expect(new Set(flows.map((each) => each?.flow)).size).toBe(1);
      expect(flows.filter((each) => each?.created)).toHaveLength(1);
    }
  });
});

describe('releases while items come', () => {
  const flow = (retries: number) =>
    `{ flow: echo, business: test, steps: { upper: { call: test.upper, send: [text], receive: [text], retry: { tries: ${retries} } } } }`;
  const versionOf = async (key: string) => {
    const { run } = await world.client.get({ run: name('echo', key) }, options);
    return run?.flowVersion;
  };

  it('decide for what comes afterwards, and for nothing that is there', async () => {
    await using(Flows, async (flows) => {
      await flows.push({ text: flow(5) }, options);
      const { releases } = await flows.listReleases({ name: 'echo' }, options);
      const stable = releases[0]?.version ?? 0;
      expect(stable).toBe(1);
      const keys: string[] = [];
      const batch = async (tag: string): Promise<string[]> => {
        const batchKeys = Array.from({ length: 40 }, (_, index) => `${tag}-${index}`);
        await submit(batchKeys.map((key) => item('echo', key)));
        keys.push(...batchKeys);
        return batchKeys;
      };
      // Releases and submissions race: every run has one of the versions, for ever.
      await Promise.all([
        (async () => {
          for (const version of [2, 1, 2]) await flows.release({ name: 'echo', version }, options);
        })(),
        ...Array.from({ length: 5 }, (_, index) => batch(`race-${index}`)),
      ]);
      const racing = await Promise.all(keys.map(versionOf));
      expect(racing.every((version) => version === 1 || version === 2)).toBe(true);

      await flows.rollback({ name: 'echo' }, options);
      const after = await batch('after');
      expect(await Promise.all(after.map(versionOf))).toEqual(after.map(() => 1));

      const gray = { version: 2, shareBasisPoints: 5_000, keys: [bytes('gray-0')] };
      await flows.release({ name: 'echo', gray }, options);
      const split = await batch('gray');
      const versions = await Promise.all(split.map(versionOf));
      expect(versions[0]).toBe(2);
      expect(new Set(versions)).toEqual(new Set([1, 2]));

      await flows.release({ name: 'echo', version: 2 }, options);
      expect(await submit(keys.map((key) => item('echo', key)))).toEqual(
        keys.map(() => ({ flow: 'echo', created: false })),
      );
      expect(await Promise.all(keys.map(versionOf))).toEqual([...racing, ...after.map(() => 1), ...versions]);
      for (const key of keys) await untilState(world, 'echo', key, State.SUCCEEDED);
    });
  });
});
