// weir.runs.v1 as a client sees it: the engine that `weir up` assembles, real modules, one machine.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Code } from '../../../platform/rpc/error.ts';
import { AlarmKind, Ending, Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Refusal, type SubmitResult } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { bytes, item, name, options, startWorld, until, untilState, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(async () => {
  await world.close();
  expect(world.logged).toEqual([]);
});

function said(results: readonly SubmitResult[]): string[] {
  return results.map(({ result }) => {
    if (result.case === 'accepted') return result.value.created ? 'created' : 'there already';
    if (result.case !== 'refused') return 'nothing';
    const { refusal, field, message } = result.value;
    return `${Refusal[refusal]} ${field}: ${message}`;
  });
}

async function submit(...items: ReturnType<typeof item>[]): Promise<string[]> {
  return said((await world.client.submit({ items }, options)).results);
}

describe('Submit', () => {
  it('drives an item through its flow', async () => {
    expect(await submit(item('echo', 'one', 'hello'))).toEqual(['created']);
    const run = await untilState(world, 'echo', 'one', State.SUCCEEDED);
    expect(run).toMatchObject({ name: name('echo', 'one', 1), flowVersion: 1, level: 5, activity: '', holder: '' });
    const fields = run.fields.map(({ writer, name, cell }) => [
      writer,
      name,
      Buffer.from(cell?.value ?? []).toString(),
    ]);
    expect(fields).toEqual([
      ['input', 'text', 'hello'],
      ['upper', 'text', 'HELLO'],
    ]);
    expect(run.executions).toMatchObject([
      { step: 'upper', module: 'test.upper', ending: Ending.SUCCEEDED, attempt: 1 },
    ]);
  });

  it('answers for each item apart, in order', async () => {
    expect(
      await submit(
        item('echo', 'first'),
        { ...item('echo', 'x'), business: 'other' },
        item('ecko', 'x'),
        item('echo', ''),
        item('echo', 'last'),
      ),
    ).toEqual([
      'created',
      'INVALID business: flow echo belongs to business test, found "other"',
      'UNKNOWN_FLOW flow: no released flow is named "ecko"',
      'INVALID key: found 0 bytes, allowed are 1 to 1,024',
      'created',
    ]);
  });

  it('knows an item again, and refuses the same key with other content', async () => {
    expect(await submit(item('echo', 'again', 'a'))).toEqual(['created']);
    expect(await submit(item('echo', 'again', 'a'))).toEqual(['there already']);
    await untilState(world, 'echo', 'again', State.SUCCEEDED);
    expect(await submit(item('echo', 'again', 'b'))).toEqual([
      'CONFLICT fields: item again is in flow echo already (generation 1) with other fields; to run it again expect generation 1',
    ]);
  });

  it('runs an item again as a new generation', async () => {
    await submit(item('echo', 'generations', 'a'));
    await untilState(world, 'echo', 'generations', State.SUCCEEDED);
    const next = { ...item('echo', 'generations', 'b'), expectedGeneration: 1 };
    expect(await submit(next)).toEqual(['created']);
    expect(await submit(next)).toEqual(['there already']);
    expect(await submit({ ...next, expectedGeneration: 5 })).toEqual([
      'GENERATION expected_generation: the newest generation is 2, found 5',
    ]);
    const run = await untilState(world, 'echo', 'generations', State.SUCCEEDED);
    expect(run.name?.generation).toBe(2);
    const { run: first } = await world.client.get({ run: name('echo', 'generations', 1) }, options);
    expect(first?.name?.generation).toBe(1);
  });

  it('takes 1,000 items, not more', async () => {
    const items = Array.from({ length: 1_001 }, (_, index) => item('echo', `many-${index}`));
    await expect(world.client.submit({ items }, options)).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: 'items: found 1,001 items, at most 1,000 are allowed in one message',
    });
    expect(new Set(await submit(...items.slice(1)))).toEqual(new Set(['created']));
    await untilState(world, 'echo', 'many-1000', State.SUCCEEDED);
  });
});

describe('SubmitStream', () => {
  it('answers message by message, in order', async () => {
    const stream = world.client.submitStream(options);
    const answers = (async () => {
      const all = [];
      for await (const { results } of stream.responses) all.push(said(results));
      return all;
    })();
    await stream.send({ items: [item('echo', 'stream-1'), item('echo', 'stream-2')] });
    await stream.send({ items: [] });
    await stream.send({ items: [item('ecko', 'stream-3')] });
    for (let index = 0; index < 20; index++) await stream.send({ items: [item('echo', `stream-more-${index}`)] });
    stream.end();
    expect(await answers).toEqual([
      ['created', 'created'],
      [],
      ['UNKNOWN_FLOW flow: no released flow is named "ecko"'],
      ...Array.from({ length: 20 }, () => ['created']),
    ]);
  });

  it('ends with the mistake of a whole message', async () => {
    const stream = world.client.submitStream(options);
    const answers: string[][] = [];
    const reading = (async () => {
      for await (const { results } of stream.responses) answers.push(said(results));
    })();
    reading.catch(() => {});
    await stream.send({ items: [item('echo', 'before')] });
    await stream.send({ items: Array.from({ length: 1_001 }, (_, index) => item('echo', `x-${index}`)) });
    await expect(reading).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect(answers).toEqual([['created']]);
  });
});

describe('Get', () => {
  it.each([
    [undefined, Code.INVALID_ARGUMENT, 'run: is absent; business, flow and key are needed'],
    [name('echo', ''), Code.INVALID_ARGUMENT, 'run.key: found 0 bytes, allowed are 1 to 1,024'],
    [
      name('Echo', 'a'),
      Code.INVALID_ARGUMENT,
      'run.flow: found "Echo", allowed is [a-z][a-z0-9_-]*, up to 64 characters',
    ],
    [name('echo', 'nobody'), Code.NOT_FOUND, 'there is no run test/echo/nobody'],
    [name('echo', 'nobody', 3), Code.NOT_FOUND, 'there is no run test/echo/nobody#3'],
  ])('refuses %o', async (run, code, message) => {
    const request = run ? { run } : {};
    await expect(world.client.get(request, options)).rejects.toMatchObject({ code, message });
  });
});

describe('List', () => {
  it('gives every run once, page by page, with the newest values of fields', async () => {
    await submit(item('fragile', 'list-1', 'a'), item('fragile', 'list-2', 'b'), item('fragile', 'list-3', 'c'));
    for (const key of ['list-1', 'list-2', 'list-3']) await untilState(world, 'fragile', key, State.SUCCEEDED);
    const seen: string[] = [];
    const filter = { business: 'test', flow: 'fragile', states: [State.SUCCEEDED] };
    let pageToken = '';
    do {
      const page = await world.client.list({ filter, pageSize: 2, pageToken, fields: ['text', 'absent'] }, options);
      expect(page.runs.length).toBeLessThanOrEqual(2);
      seen.push(
        ...page.runs.map(({ fields }) =>
          String(fields.map(({ name, cell }) => `${name} ${Buffer.from(cell?.value ?? []).toString()}`)),
        ),
      );
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(['text a', 'text b', 'text c']);
    const echoes = await world.client.list({ filter: { flow: 'echo' }, pageSize: 1, fields: ['text'] }, options);
    expect(echoes.runs).toMatchObject([
      { fields: [{ writer: 'upper', name: 'text', cell: { value: bytes('HELLO') } }] },
    ]);
  });

  it('refuses what it cannot answer', async () => {
    const { nextPageToken } = await world.client.list({ pageSize: 1 }, options);
    const wrongToken =
      'page_token: is not one of this list; take next_page_token of the page before, with the same filter';
    const refused: Array<[Parameters<typeof world.client.list>[0], string]> = [
      [{ pageToken: 'nonsense' }, wrongToken],
      [{ pageToken: nextPageToken, filter: { flow: 'echo' } }, wrongToken],
      [{ pageSize: 1_001 }, 'page_size: found 1001, allowed are 1 to 1000, and 0 for 100'],
      [{ filter: { flow: 'a b' } }, 'filter.flow: found "a b", allowed is [a-z][a-z0-9_-]*, up to 64 characters'],
      [
        { filter: { states: [99 as State] } },
        'filter.states[0]: found 99, allowed are OPEN, PARKED, ENDING, SUCCEEDED, FAILED, CANCELLED',
      ],
      [{ fields: ['Text'] }, 'fields[0]: found "Text", allowed is [a-z][a-z0-9_]*, up to 64 characters'],
    ];
    for (const [request, message] of refused) {
      await expect(world.client.list(request, options)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT, message });
    }
  });
});

describe('Cancel', () => {
  it('ends a run that sleeps', async () => {
    world.behaviour.broken = true;
    await submit(item('sleepy', 'cancelled'));
    await until(world, 'sleepy', 'cancelled', ({ activity }) => activity === 'sleeping');
    const request = { run: name('sleepy', 'cancelled'), cause: 'no longer wanted', requestId: 'r1' };
    await world.client.cancel(request, options);
    const run = await untilState(world, 'sleepy', 'cancelled', State.CANCELLED);
    expect(run.status).toMatchObject({ outcomeNumber: 1, detail: 'no longer wanted' });
    await expect(world.client.cancel(request, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'test/sleepy/cancelled is CANCELLED, cancel is for OPEN or PARKED',
    });
    world.behaviour.broken = false;
  });

  it('refuses ids and causes that do not fit', async () => {
    const run = name('sleepy', 'cancelled');
    await expect(world.client.cancel({ run, cause: 'x'.repeat(1_025) }, options)).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: 'cause: found 1025 characters, at most 1024 are allowed',
    });
    await expect(world.client.retry({ run, requestId: 'a b' }, options)).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: 'request_id: allowed are up to 128 printable ASCII characters without spaces',
    });
  });
});

describe('Retry', () => {
  it('runs the failed step again', async () => {
    world.behaviour.broken = true;
    await submit(item('fragile', 'retried'));
    const failed = await untilState(world, 'fragile', 'retried', State.FAILED);
    expect(failed.status).toMatchObject({ reason: Reason.EXHAUSTED, outcomeNumber: 1 });
    world.behaviour.broken = false;
    const run = name('fragile', 'retried');
    await expect(world.client.retry({ run, outcomeNumber: 7 }, options)).rejects.toMatchObject({
      code: Code.ABORTED,
      message: 'outcome_number: test/fragile/retried has outcome 1 now, the request names 7',
    });
    await world.client.retry({ run, outcomeNumber: 1 }, options);
    const { steps, status } = await untilState(world, 'fragile', 'retried', State.SUCCEEDED);
    expect(status?.outcomeNumber).toBe(2);
    expect(steps).toMatchObject([{ id: 'try', cell: { round: 2 } }]);
    await expect(world.client.retry({ run }, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'test/fragile/retried is SUCCEEDED, retry is for FAILED or CANCELLED',
    });
  });

  it('refuses a generation that is not the newest', async () => {
    world.behaviour.broken = true;
    await submit(item('fragile', 'superseded'));
    await untilState(world, 'fragile', 'superseded', State.FAILED);
    world.behaviour.broken = false;
    await submit({ ...item('fragile', 'superseded'), expectedGeneration: 1 });
    await expect(world.client.retry({ run: name('fragile', 'superseded', 1) }, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'test/fragile/superseded was superseded by a newer generation, which can be retried in its place',
    });
  });
});

describe('Release', () => {
  it('lets a run go on that was parked for its losses', async () => {
    world.behaviour.cutting = true;
    await submit(item('losing', 'parked'));
    const parked = await untilState(world, 'losing', 'parked', State.PARKED);
    expect(parked.status?.reason).toBe(Reason.POISON);
    world.behaviour.cutting = false;
    await world.client.release({ run: name('losing', 'parked') }, options);
    await untilState(world, 'losing', 'parked', State.SUCCEEDED);
    await expect(world.client.release({ run: name('losing', 'parked') }, options)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: 'test/losing/parked is SUCCEEDED, release is for PARKED',
    });
  });
});

describe('Summarize', () => {
  it('counts runs by state, and the calls of each step', async () => {
    const { states, steps } = await world.client.summarize({ filter: { flow: 'sleepy' }, withSteps: true }, options);
    expect(states).toMatchObject([{ state: State.CANCELLED, reason: Reason.UNSPECIFIED, runs: 1n }]);
    expect(steps).toMatchObject([
      { step: 'try', module: 'test.fragile', endings: [{ ending: Ending.FAILED, calls: 1n }] },
    ]);
    expect(steps[0]?.p99Ms).toBeGreaterThan(0);
  });

  it('leaves out the steps when they are not wanted, and asks for a flow when they are', async () => {
    expect((await world.client.summarize({ filter: { flow: 'sleepy' } }, options)).steps).toEqual([]);
    await expect(world.client.summarize({ withSteps: true }, options)).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: 'filter.flow: is absent; with_steps needs it, since steps are named within a flow',
    });
  });
});

describe('ListAlarms', () => {
  it('lists what a person should know, the newest first', async () => {
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await world.client.listAlarms({ pageSize: 1, pageToken }, options);
      seen.push(...page.alarms.map(({ kind, flow }) => `${AlarmKind[kind]} ${flow}`));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toContain('RUN_PARKED losing');
    expect(seen.at(-1)).toBe('RUN_FAILED fragile');
    await expect(world.client.listAlarms({ pageToken: 'nonsense' }, options)).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
    });
  });
});
