// The `weir` command against an engine.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { startWorld, untilState, untilThere, type World } from '../runs-service/world.ts';
import { type Ended, json, program, weir } from './weir.ts';

let world: World;
let folder: string;

beforeAll(async () => {
  world = await startWorld();
  folder = await mkdtemp(`${tmpdir()}/weir-command-`);
});

afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const ask = (...words: string[]): Promise<Ended> => weir(world.engine.address, words);

function line(flow: string, key: unknown, more: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ business: 'test', flow, key, fields: { text: 'hello' }, ...more })}\n`;
}

/** Times are those of the machine. */
function withoutTimes(output: string): string {
  return output.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

/** Processes start slowly on machines that are busy. */
const patient = { timeout: 60_000 };

describe('weir submit', patient, () => {
  it('takes items from standard input, and knows them again', async () => {
    const input = line('echo', 'a') + line('echo', { base64: 'AP8=' });
    const first = await weir(world.engine.address, ['submit', '-', '--json'], input);
    expect(first).toEqual({ code: 0, stdout: '{"accepted":2,"existing":0,"refused":0}\n', stderr: '' });
    const again = await weir(world.engine.address, ['submit', '-'], input);
    expect(again).toEqual({ code: 0, stdout: '2 accepted (2 were there already), 0 refused\n', stderr: '' });
  });

  it('takes a file of any size, tells what was refused with its line, and ends with 2', async () => {
    const file = `${folder}/items.ndjson`;
    const many = Array.from({ length: 2_500 }, (_, index) => line('echo', `many-${index}`));
    const bad = ['\n', line('ecko', 'x'), line('echo', 'a', { fields: { text: 'other' } })];
    await writeFile(file, [...many, ...bad, line('echo', 'last')].join(''));
    const { code, stdout, stderr } = await ask('submit', file);
    expect(stdout).toBe('2,501 accepted (0 were there already), 2 refused\n');
    expect(stderr.replaceAll(folder, '')).toBe(
      `weir: 2 of 2,503 lines were refused
/items.ndjson:2502: flow: no released flow is named "ecko"
/items.ndjson:2503: fields: item a is in flow echo already (generation 1) with other fields; to run it again expect generation 1
`,
    );
    expect(code).toBe(2);
    await untilState(world, 'echo', 'last', State.SUCCEEDED);
  });

  it('submits nothing of a file with a line that is wrong', async () => {
    const file = `${folder}/wrong.ndjson`;
    await writeFile(file, [line('echo', 'not-submitted'), 'nonsense\n', line('echo', '')].join(''));
    const { stderr, ...rest } = await ask('submit', file);
    expect(rest).toEqual({ code: 2, stdout: '' });
    expect(stderr.replaceAll(folder, '')).toBe(
      `weir: nothing was submitted, 2 lines are wrong
/wrong.ndjson:2: is not JSON; one object is needed
/wrong.ndjson:3: key: found 0 bytes, allowed are 1 to 1,024
`,
    );
    expect(await ask('run', 'get', 'test/echo/not-submitted')).toMatchObject({ code: 1 });
  });
});

describe('weir run', patient, () => {
  it('gets a run, as JSON and for people', async () => {
    await untilState(world, 'echo', 'a', State.SUCCEEDED);
    const [run] = json(await ask('run', 'get', 'test/echo/a', '--fields', '--calls', '--json'));
    expect(run).toMatchObject({
      ...{ run: 'test/echo/a', business: 'test', flow: 'echo', key: 'a', generation: 1 },
      ...{ state: 'SUCCEEDED', reason: '', activity: '', level: 5, flowVersion: 1, outcomeNumber: 1 },
      steps: [{ step: 'upper', status: 'DONE', round: 1, attempts: 0 }],
      fields: [
        { writer: 'input', name: 'text', value: 'hello' },
        { writer: 'upper', name: 'text', value: 'HELLO' },
      ],
      calls: [{ step: 'upper', module: 'test.upper', ending: 'SUCCEEDED', attempt: 1 }],
    });
    const { stdout } = await ask('run', 'get', 'test/echo/a', '--fields');
    expect(stdout).toContain('test/echo/a: SUCCEEDED since ');
    expect(stdout).toMatch(/^upper +DONE +1 +0 +0 +0$/m);
    expect(stdout).toMatch(/^upper +text +HELLO$/m);
  });

  it('names keys that are not printable in a form that it reads', async () => {
    const [run] = json(await ask('run', 'get', 'test/echo/0x00ff', '--json'));
    expect(run).toMatchObject({ run: 'test/echo/0x00ff', key: { base64: 'AP8=' } });
  });

  it('lists runs with fields, one a line', async () => {
    const limited = json(await ask('run', 'list', '--flow', 'echo', '--fields', 'text', '--limit', '1', '--json'));
    expect(limited).toMatchObject([{ run: 'test/echo/a', state: 'SUCCEEDED', fields: { text: 'HELLO' } }]);
    const all = json(await ask('run', 'list', '--flow', 'echo', '--all', '--json'));
    expect(all).toHaveLength(2_503);
    const { stdout } = await ask('run', 'list', '--state', 'succeeded', '--limit', '1', '--fields', 'text');
    expect(stdout).toMatch(/^RUN +STATE +ACTIVITY +SINCE +TEXT\ntest\/echo\/a +SUCCEEDED +\S+ +HELLO\n$/);
  });

  it('counts runs, with and without steps', async () => {
    const [full] = json(await ask('run', 'summary', '--flow', 'echo', '--json'));
    expect(full).toMatchObject({
      steps: [{ step: 'upper', module: 'test.upper', endings: expect.anything() as unknown }],
    });
    const [cheap] = json(await ask('run', 'summary', '--flow', 'gated', '--no-steps', '--json'));
    expect(cheap).toEqual({ runs: [], steps: [] });
  });

  it('cancels, retries, and says why it cannot', async () => {
    world.behaviour.broken = true;
    await weir(world.engine.address, ['submit', '-'], line('fragile', 'b'));
    await untilState(world, 'fragile', 'b', State.FAILED);
    world.behaviour.broken = false;
    const cancelled = await ask('run', 'cancel', 'test/fragile/b');
    expect(cancelled).toEqual({
      code: 1,
      stdout: '',
      stderr: 'weir: test/fragile/b is FAILED, cancel is for OPEN or PARKED\n',
    });
    const conflict = await ask('run', 'retry', 'test/fragile/b', '--outcome', '9');
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toContain('has outcome 1 now, the request names 9');
    const retried = await ask('run', 'retry', 'test/fragile/b', '--json');
    expect(json(retried)).toEqual([{ run: 'test/fragile/b', requested: 'retry' }]);
    await untilState(world, 'fragile', 'b', State.SUCCEEDED);
    expect(await ask('run', 'release', 'test/fragile/b')).toMatchObject({ code: 1 });
    expect(await ask('run', 'get', 'test/fragile/nobody')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'weir: there is no run test/fragile/nobody\n',
    });
    expect(await ask('run', 'get', 'Test/fragile/b')).toMatchObject({ code: 2 });
  });
});

describe('weir flow', patient, () => {
  const text = 'flow: extra\nbusiness: test\nsteps: { a: { call: test.upper, send: [text] } }\n';
  const changed = text.replace('[text]', '[other]');

  it('pushes, releases, lists and shows', async () => {
    const file = `${folder}/extra.flow.yaml`;
    await writeFile(file, text);
    expect(await ask('flow', 'push', file, '--author', 'ann')).toMatchObject({
      ...{ code: 0, stdout: 'extra version 1: stored\n' },
    });
    expect(await ask('flow', 'push', file, '--release', '--author', 'ann')).toMatchObject({
      stdout: 'extra version 1: there already, released\n',
    });
    await writeFile(file, changed);
    const conflict = await ask('flow', 'push', file, '--expect', '0');
    expect({ ...conflict, stderr: withoutTimes(conflict.stderr) }).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'weir: expected_version: flow extra has version 1 as its newest (by ann, TIME), the request names 0\n',
    });
    expect(json(await ask('flow', 'push', file, '--expect', '1', '--json'))).toEqual([
      { name: 'extra', version: 2, created: true, released: false },
    ]);
    expect(await ask('flow', 'release', 'extra', '2')).toMatchObject({
      stdout: 'extra version 2: released, version 1 before\n',
    });
    expect(await ask('flow', 'show', 'extra', '--version', '1')).toMatchObject({ code: 0, stdout: text });
    expect(json(await ask('flow', 'list', '--json'))).toContainEqual({
      ...{ name: 'extra', business: 'test', newestVersion: 2, releasedVersion: 2, grayVersion: 0, releaseNumber: 2 },
    });
    expect(await ask('flow', 'show', 'extr')).toEqual({
      code: 1,
      stdout: '',
      stderr: "weir: there is no flow extr; did you mean 'extra'?\n",
    });
    expect(await ask('flow', 'release', 'extra', '9')).toMatchObject({
      code: 1,
      stderr: 'weir: flow extra has no version 9; its versions are 1 to 2\n',
    });
  });

  it('releases for some items, goes back, and tells the history', async () => {
    const keys = `${folder}/testers.txt`;
    await writeFile(keys, 'one\n0x00ff\n\n');
    const gray = ['flow', 'release', 'extra', '1', '--share', '2.5%', '--keys', keys, '--expect', '2'];
    expect(await ask(...gray, '--author', 'ann', '--comment', 'try it')).toMatchObject({
      stdout: 'extra version 1: released for 2.5% of the items, 2 keys, version 2 for the others\n',
    });
    const conflict = await ask(...gray);
    expect(conflict.code).toBe(1);
    expect(withoutTimes(conflict.stderr)).toBe(
      'weir: expected_release: flow extra has release 3, version 2 (by ann, TIME), the request names 2\n',
    );
    await ask('flow', 'release', 'extra', '1');
    expect(await ask('flow', 'rollback', 'extra', '--author', 'bob', '--comment', 'failures')).toMatchObject({
      stdout: 'extra version 2: released again, and version 1 for 2.5% of the items, 2 keys, as in release 3\n',
    });
    const { stdout } = await ask('flow', 'releases', 'extra');
    expect(withoutTimes(stdout)).toMatch(
      /^ *5 +2, and 1 for 2.5% of the items, 2 keys +TIME +bob +back to release 3; failures$/m,
    );
    expect(json(await ask('flow', 'releases', 'extra', '--json'))[0]).toMatchObject({
      ...{ number: 5, version: 2, author: 'bob', comment: 'failures', restores: 3 },
      gray: { version: 1, shareBasisPoints: 250, businesses: [], keys: ['one', { base64: 'AP8=' }] },
    });
    expect(await ask('flow', 'rollback', 'extra', '--to', '99')).toMatchObject({ code: 1 });
    await writeFile(keys, 'one\ntwo words\n');
    expect((await ask(...gray)).stderr.replaceAll(folder, '')).toBe(
      'weir: --keys: /testers.txt:2: Allowed in a key are printable ASCII characters without spaces; others go as 0x… in hexadecimal.\n',
    );
  });

  it('compares versions and files by what they mean', async () => {
    const difference = '- steps.a.call.send: text\n+ steps.a.call.send: other\n';
    expect(await ask('flow', 'diff', 'extra@1', 'extra@2')).toEqual({
      ...{ code: 3, stdout: difference },
      stderr: 'weir: extra version 1 and extra version 2 differ, differences: 2\n',
    });
    const file = `${folder}/compared.flow.yaml`;
    await writeFile(file, `# the same\n${changed}`);
    const same = await ask('flow', 'diff', 'extra', file);
    expect({ ...same, stdout: same.stdout.replaceAll(folder, '') }).toEqual({
      ...{ code: 0, stdout: 'extra version 2 and /compared.flow.yaml mean the same\n', stderr: '' },
    });
    await writeFile(file, changed.replace('test.upper', 'test.lower'));
    const against = await ask('flow', 'diff', file, '--json');
    expect(against.code).toBe(3);
    expect(json(against)).toEqual([{ path: 'steps.a.call.module', from: 'test.upper', to: 'test.lower' }]);
    expect(await ask('flow', 'diff', 'extra@9')).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('weir route', patient, () => {
  const routes = (flow: string) =>
    `business: test\nfields: { text: string }\nrules:\n  - { when: "text == 'big'", flow: ${flow} }\notherwise: echo\n`;

  it('pushes, tests, releases, goes back, lists and shows', async () => {
    const file = `${folder}/test.routes.yaml`;
    await writeFile(file, routes('ecko'));
    const lost = await ask('route', 'push', file);
    expect({ ...lost, stderr: lost.stderr.replaceAll(folder, '') }).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: `weir: nothing was stored\n/test.routes.yaml:4:30: rules[0].flow: there is no flow "ecko"; did you mean 'echo'?\n`,
    });
    await writeFile(file, routes('fragile'));
    expect(await ask('route', 'push', file, '--release', '--author', 'ann')).toMatchObject({
      stdout: 'routes of test version 1: stored, released\n',
    });
    await writeFile(file, routes('gated'));
    expect(json(await ask('route', 'push', file, '--expect', '1', '--json'))).toEqual([
      { business: 'test', version: 2, created: true, released: false },
    ]);
    expect(await ask('route', 'release', 'test', '2', '--expect', '1')).toMatchObject({
      stdout: 'routes of test version 2: released, version 1 before\n',
    });
    expect(await ask('route', 'rollback', 'test', '--comment', 'no')).toMatchObject({
      stdout: 'routes of test version 1: released again, as in release 1\n',
    });
    expect(json(await ask('route', 'list', '--json'))).toEqual([
      { business: 'test', newestVersion: 2, releasedVersion: 1, releaseNumber: 3 },
    ]);
    expect(await ask('route', 'show', 'test', '--version', '1')).toMatchObject({ stdout: routes('fragile') });
    expect(json(await ask('route', 'releases', 'test', '--json'))).toHaveLength(3);
    expect((await ask('route', 'release', 'tset', '1')).stderr).toBe(
      "weir: there are no routes of business tset; did you mean 'test'?\n",
    );
  });

  it('tells where an item goes, and submits it there', async () => {
    const item = `${folder}/item.json`;
    await writeFile(item, '{ "key": "routed", "fields": { "text": "big" } }');
    expect(await ask('route', 'test', 'test', '--item', item)).toEqual({
      ...{ code: 0, stdout: `fragile, by rules[0]: text == 'big'\n  text = "big"\n`, stderr: '' },
    });
    const input = line('', 'routed', { flow: undefined, fields: { text: 'big' } });
    expect(await weir(world.engine.address, ['submit', '-'], input)).toMatchObject({ code: 0 });
    await untilThere(world, 'fragile', 'routed');
  });
});

describe('weir business', patient, () => {
  it('sets and lists', async () => {
    expect(await ask('business', 'set', 'video', '--owners', 'ann,team-video', '--author', 'ann')).toMatchObject({
      stdout: 'video: created, owners: ann, team-video\n',
    });
    expect(await ask('business', 'set', 'video', '--description', 'Moving pictures', '--expect', '1')).toMatchObject({
      stdout: 'video: changed, revision 2, owners: ann, team-video\n',
    });
    expect((await ask('business', 'set', 'video', '--expect', '1')).code).toBe(1);
    expect((await ask('business', 'list')).stdout).toMatch(/^video +ann, team-video +2 +Moving pictures$/m);
    expect(json(await ask('business', 'list', '--json'))).toMatchObject([
      { name: 'test', owners: ['weir up'], revision: 1 },
      { name: 'video', owners: ['ann', 'team-video'], description: 'Moving pictures', revision: 2 },
    ]);
  });
});

describe('weir alarm list, weir module list', patient, () => {
  it('show what is there', async () => {
    expect(json(await ask('alarm', 'list', '--json'))).toMatchObject([{ kind: 'RUN_FAILED', itemKey: 'b', count: 1 }]);
    const modules = json(await ask('module', 'list', '--json')) as Array<{ name: string }>;
    expect(modules.map(({ name }) => name)).toEqual(['test.upper', 'test.fragile', 'test.losing', 'test.gated']);
    expect((await ask('module', 'list')).stdout).toMatch(
      /^test.upper +127\.0\.0\.1:\d+ +SERVING +0 +64 +0 +STATIC +1$/m,
    );
  });
});

describe('weir submit, when the engine goes', patient, () => {
  it('says how far it has come, and ends with 1', async () => {
    const other = await startWorld();
    const child = spawn(process.execPath, [program, 'submit', '-', '--address', other.engine.address]);
    const ended = once(child, 'close') as Promise<[number | null]>;
    const errors = text(child.stderr);
    child.stdin.write(line('echo', 'only'));
    await untilThere(other, 'echo', 'only');
    await other.engine.stop();
    expect((await ended)[0]).toBe(1);
    expect(await errors).toBe(
      'weir: the engine is stopping\n' +
        '1 items were acknowledged; submit the same again, what is there already is recognised\n',
    );
    await other.close();
  });
});
