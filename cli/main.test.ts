// The command as a shell runs it: exit codes and exact messages. What talks to an engine is in test/contract/command.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Milliseconds: many processes start at once, on machines that may be busy. */
const timeoutMs = 60_000;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-cli-'));
  writeFileSync(join(folder, 'good.flow.yaml'), '{ flow: good, business: test, steps: { a: { call: test.a } } }');
  writeFileSync(
    join(folder, 'bad.flow.yaml'),
    'flow: bad\nbusiness: test\nsteps: { a: { call: test.a, after: [b] } }\n',
  );
  writeFileSync(join(folder, 'good.routes.yaml'), '{ business: test, rules: [], otherwise: good }');
  writeFileSync(
    join(folder, 'bad.routes.yaml'),
    '{ business: test, rules: [{ when: "levl > 1", flow: good }], otherwise: good }',
  );
  writeFileSync(join(folder, 'modules.yaml'), "modules: { test.a: { endpoints: ['localhost:1'] } }");
  writeFileSync(join(folder, 'latin1'), Buffer.of(0xe9));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** `{folder}` stands for the folder of this test, in what is given and in what comes back. */
function weir(commandLine: string, environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const words = commandLine === '' ? [] : commandLine.replaceAll('{folder}', folder).split(' ');
  const env = { ...process.env, NO_COLOR: '1', WEIR_ADDRESS: '127.0.0.1:1', ...environment };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, 'main.ts'), ...words],
      { env, cwd: folder },
      (error, stdout, stderr) => {
        const masked = (text: string) => text.replaceAll(folder, '{folder}');
        resolve({ code: Number(error?.code ?? 0), stdout: masked(stdout), stderr: masked(stderr) });
      },
    );
  });
}

describe.concurrent('weir refuses with 2', { timeout: timeoutMs }, () => {
  it.each<[string, string]>([
    ['fly', "error: unknown command 'fly'\n(Did you mean flow?)"],
    ['run lsit', "error: unknown command 'lsit'\n(Did you mean list?)"],
    ['--colour', "error: unknown option '--colour'"],
    ['run list --limt 3', "error: unknown option '--limt'\n(Did you mean --limit?)"],
    ['run list --limit', "error: option '--limit <number>' argument missing"],
    [
      'run list --limit 0',
      "error: option '--limit <number>' argument '0' is invalid. Allowed is a whole number from 1 to 1000000.",
    ],
    [
      'run list --state OPEN,FOO',
      "error: option '--state <states>' argument 'OPEN,FOO' is invalid. Allowed are OPEN, PARKED, ENDING, SUCCEEDED, FAILED, CANCELLED.",
    ],
    [
      'run list --fields a,,b',
      "error: option '--fields <names>' argument 'a,,b' is invalid. Allowed are names separated by commas, as in label,verdict.",
    ],
    [
      'run list --address nowhere',
      "error: option '--address <host:port>' argument 'nowhere' is invalid. Allowed is HOST:PORT, as in 127.0.0.1:27100.",
    ],
    [
      'run list --address 127.0.0.1:0',
      "error: option '--address <host:port>' argument '127.0.0.1:0' is invalid. Allowed is HOST:PORT, as in 127.0.0.1:27100.",
    ],
    ['run get', "error: missing required argument 'run'"],
    [
      'run get mail',
      "error: command-argument value 'mail' is invalid for argument 'run'. Allowed is BUSINESS/FLOW/KEY, as in mail/mail-intake/spam-1/00001.",
    ],
    ['run get a/b/c d', "error: too many arguments for 'get'. Expected 1 argument but got 2: a/b/c, d."],
    [
      'run retry a/b/c --outcome x',
      "error: option '--outcome <number>' argument 'x' is invalid. Allowed is a whole number from 1 to 4294967295.",
    ],
    [
      'run retry a/b/c --version newest',
      "error: option '--version <version>' argument 'newest' is invalid. Allowed are keep, released, and the number of a version.",
    ],
    [
      'run signal a/b/c go --field x',
      "error: option '--field <name=value>' argument 'x' is invalid. Allowed is NAME=VALUE.",
    ],
    ['flow validate', "error: missing required argument 'file'"],
    ['flow validate absent.yaml', 'weir: absent.yaml does not exist'],
    ['flow validate {folder}', 'weir: {folder} is a folder, a file is needed'],
    ['flow validate {folder}/latin1', 'weir: {folder}/latin1 is not UTF-8'],
    [
      'flow push {folder}/bad.flow.yaml',
      'weir: nothing was stored\n{folder}/bad.flow.yaml:3:37: steps.a.after[0]: no step is called "b"',
    ],
    [
      'flow release x 0',
      "error: command-argument value '0' is invalid for argument 'version'. Allowed is a whole number from 1 to 10000.",
    ],
    [
      'flow release x 1 --share 0%',
      "error: option '--share <percent>' argument '0%' is invalid. Allowed is 0.01% to 100%, as in 10%.",
    ],
    ['flow release x 1 --keys absent.txt', 'weir: --keys: absent.txt does not exist'],
    [
      'flow diff {folder}/good.flow.yaml {folder}/bad.flow.yaml',
      'weir: not a valid flow\n{folder}/bad.flow.yaml:3:37: steps.a.after[0]: no step is called "b"',
    ],
    ['route test {folder}/good.routes.yaml', 'weir: name either --item or --cases'],
    [
      'route push {folder}/bad.routes.yaml',
      `weir: not valid routes\n{folder}/bad.routes.yaml:1:29: rules[0].when: line 1, column 1: 'levl' is not a declared field; did you mean 'level'?`,
    ],
    ['submit', "error: missing required argument 'file'"],
    ['submit absent.ndjson', 'weir: absent.ndjson does not exist'],
    ['submit {folder}', 'weir: {folder} is a folder, a file is needed'],
    ['up --data', "error: option '--data <folder>' argument missing"],
    [
      'up --address 127.0.0.1:99999',
      "error: option '--address <host:port>' argument '127.0.0.1:99999' is invalid. Allowed is HOST:PORT, as in 127.0.0.1:27100.",
    ],
    [
      'up --max-runs 0',
      "error: option '--max-runs <n>' argument '0' is invalid. Allowed is a whole number from 1 to 100000.",
    ],
    ['up --modules absent.yaml', 'weir: --modules: absent.yaml does not exist'],
    ['up --flows absent', 'weir: --flows: absent does not exist'],
    [
      'up --data {folder}/good.flow.yaml',
      'weir: --data: {folder}/good.flow.yaml is a file, or lies below one: name a folder',
    ],
  ])('%s', async (commandLine, message) => {
    const { code, stdout, stderr } = await weir(commandLine);
    expect({ code, stdout, stderr: stderr.trimEnd() }).toEqual({ code: 2, stdout: '', stderr: message });
  });

  it('a wrong address in the environment', async () => {
    const { code, stderr } = await weir('run list', { WEIR_ADDRESS: 'nowhere' });
    expect(code).toBe(2);
    expect(stderr.trimEnd()).toBe(
      "error: option '--address <host:port>' value 'nowhere' from env 'WEIR_ADDRESS' is invalid. Allowed is HOST:PORT, as in 127.0.0.1:27100.",
    );
  });

  it('a directory of modules with a problem, before anything is opened', async () => {
    const { code, stderr } = await weir('up --data {folder}/data --modules {folder}/modules.yaml');
    expect(code).toBe(2);
    expect(stderr.trimEnd()).toBe(
      'weir: --modules: nothing was started\n{folder}/modules.yaml:1:34: modules.test.a.endpoints[0]: ' +
        '"localhost:1" is a name, which may mean 127.0.0.1 or [::1]; write the one that the module listens on',
    );
    expect((await weir('flow validate {folder}/data')).stderr.trimEnd()).toBe('weir: {folder}/data does not exist');
  });

  it('a folder of flows with a problem', async () => {
    const { code, stderr } = await weir('up --data {folder}/data --flows {folder}');
    expect(code).toBe(2);
    expect(stderr.trimEnd()).toBe(
      'weir: --flows: nothing was started\n{folder}/bad.flow.yaml:3:37: steps.a.after[0]: no step is called "b"',
    );
  });

  it('no command at all, with help', async () => {
    const { code, stderr } = await weir('');
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: weir [options] [command]');
  });
});

describe.concurrent('weir flow validate', { timeout: timeoutMs }, () => {
  it('says that a flow is valid', async () => {
    const { code, stdout } = await weir('flow validate {folder}/good.flow.yaml');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{folder}/good.flow.yaml: good is valid, 1 steps\n' });
  });

  it('prints problems as JSON, one a line', async () => {
    const { code, stdout, stderr } = await weir('flow validate {folder}/good.flow.yaml {folder}/bad.flow.yaml --json');
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'weir: problems found: 1\n' });
    expect(JSON.parse(stdout)).toEqual({
      ...{ file: '{folder}/bad.flow.yaml', line: 3, column: 37, path: 'steps.a.after[0]' },
      message: 'no step is called "b"',
    });
  });
});

describe.concurrent('weir fails with 1', { timeout: timeoutMs }, () => {
  it.each([
    'run list',
    'run get a/b/c',
    'flow list',
    'route list',
    'business list',
    'module list',
    'alarm list',
    'run summary',
    'submit -',
  ])('%s, when no engine answers', async (commandLine) => {
    const { code, stderr } = await weir(commandLine);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "weir: no engine answers at 127.0.0.1:1: start one with 'weir up', or name another with --address\n",
    });
  });
});

describe.concurrent('weir --help', { timeout: timeoutMs }, () => {
  it.for([
    '',
    'up',
    'dispatch',
    'spout',
    'store init',
    'store verify',
    'submit',
    'flow',
    'flow validate',
    'flow simulate',
    'flow draw',
    'flow import',
    'flow export',
    'flow push',
    'flow list',
    'flow show',
    'flow release',
    'flow rollback',
    'flow releases',
    'flow diff',
    'route',
    'route push',
    'route test',
    'route release',
    'route rollback',
    'route releases',
    'route list',
    'route show',
    'business',
    'business set',
    'business list',
    'run',
    'run get',
    'run list',
    'run summary',
    'run retry',
    'run rewind',
    'run cancel',
    'run signal',
    'run complete',
    'run release',
    'alarm',
    'alarm list',
    'module',
    'module list',
  ])('of %j', async (command, { expect }) => {
    const { code, stdout, stderr } = await weir(`${command} --help`.trim());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatchSnapshot();
  });
});
