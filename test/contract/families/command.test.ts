// What the command shows of runs that wait for one another, and says to them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { json, weir } from '../command/weir.ts';
import { type FamilyWorld, named, startFamilyWorld } from './family-world.ts';

const flows = [
  `{ flow: waits, business: test, steps: { go: { wait: { signal: go, receive: [who], timeout: 1h } } } }`,
  `{ flow: holds, business: test, steps: { sub: { sub_flow: waits } } }`,
  `{ flow: asks, business: test, steps: { ask: { callback: test.work, receive: [out] } } }`,
  `{ flow: two, business: test, steps: { a: { call: test.work }, b: { after: [a], call: test.work } } }`,
];

/** Milliseconds: processes are started, on machines that may be busy. */
const patient = { timeout: 60_000 };

let world: FamilyWorld;

beforeAll(async () => {
  world = await startFamilyWorld(flows);
});

afterAll(() => world.close());

const ask = (...words: string[]) => weir(world.engine.address, words);

const isWaiting = (run: Parameters<Parameters<FamilyWorld['until']>[1]>[0]) =>
  run.steps.some(({ waiting }) => waiting !== undefined);

describe('weir run', patient, () => {
  it('shows who waits for what, lists children, and gives a signal', async () => {
    await world.submit('holds', 'a');
    await world.until(named('holds', 'a'), isWaiting);
    const child = 'test/waits/1/test/holds/a/sub/1';
    const [parent] = json(await ask('run', 'get', 'test/holds/a', '--json'));
    expect(parent).toMatchObject({ activity: 'waiting', steps: [{ step: 'sub', child, waitsFor: { run: child } }] });
    expect((await ask('run', 'get', 'test/holds/a')).stdout).toContain(`waits for ${child}`);
    expect(json(await ask('run', 'list', '--parent', 'test/holds/a', '--json'))).toMatchObject([{ run: child }]);
    const shown = await ask('run', 'get', child);
    expect(shown.stdout).toContain('started by test/holds/a');
    expect(shown.stdout).toMatch(/waits for signal go until \S+Z/);
    expect(await ask('run', 'signal', child, 'gone')).toMatchObject({ code: 2 });
    const said = await ask('run', 'signal', child, 'go', '--field', 'who=ann');
    expect(said).toMatchObject({ code: 0, stdout: `${child}: signal is requested\n` });
    await world.untilState(named('holds', 'a'), State.SUCCEEDED);
  });

  it('gives the later answer of a callback', async () => {
    await world.submit('asks', 'a');
    await world.until(named('asks', 'a'), isWaiting);
    const token = '1/test/asks/a/ask/1';
    const [shown] = json(await ask('run', 'get', 'test/asks/a', '--json'));
    expect(shown).toMatchObject({ steps: [{ step: 'ask', waitsFor: { token } }] });
    const given = await ask('run', 'complete', token, '--code', 'fatal_error', '--message', 'no', '--json');
    expect(json(given)).toEqual([{ token, answered: 'FATAL_ERROR' }]);
    const failed = await world.untilState(named('asks', 'a'), State.FAILED);
    expect(failed.status?.detail).toBe('step ask: no');
  });

  it('rewinds a run that was cancelled', async () => {
    const letB = world.hold('two/b');
    await world.submit('two', 'a');
    await world.until(named('two', 'a'), (run) => run.steps.length === 2);
    await ask('run', 'cancel', 'test/two/a');
    await world.untilState(named('two', 'a'), State.CANCELLED);
    letB();
    expect(await ask('run', 'rewind', 'test/two/a', 'c')).toMatchObject({ code: 2 });
    const rewound = await ask('run', 'rewind', 'test/two/a', 'a', '--version', 'released', '--outcome', '1', '--json');
    expect(json(rewound)).toEqual([{ run: 'test/two/a', requested: 'rewind' }]);
    await world.untilState(named('two', 'a'), State.SUCCEEDED);
    expect([world.calls('two/a'), world.calls('two/b')]).toEqual([2, 2]);
  });
});
