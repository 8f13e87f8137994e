import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandFailure } from '../failure.ts';
import { type TestOptions, testRoutes } from './test.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-route-test-'));
  const routes = `
business: mail
fields: { country: string, size: { type: int, default: 0 } }
rules:
  - { when: "level == 1", flow: express }
  - { when: "country == 'de' && size > 100", flow: large }
otherwise: intake
`;
  writeFileSync(join(folder, 'mail.routes.yaml'), routes);
  writeFileSync(join(folder, 'strict.routes.yaml'), routes.replace('otherwise: intake', 'otherwise: refuse'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** What the command prints, and how it ends. Nothing listens at the address: a file needs no engine. */
async function run(routes: string, options: TestOptions, json = false) {
  const lines: string[] = [];
  const masked = (text: string) => text.replaceAll(folder, '');
  try {
    const printer = { json, line: (text: string) => void lines.push(masked(text)) };
    await testRoutes(join(folder, routes), options, '127.0.0.1:1', printer);
    return { lines };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { lines, exitCode: error.exitCode, message: masked(error.message) };
  }
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const itemFile = (item: unknown) => ({ item: file('item.json', JSON.stringify(item)) });
const caseFile = (text: string) => ({ cases: file('cases.yaml', text) });

describe('weir route test --item', () => {
  it('tells the rule that holds, and what it read', async () => {
    expect(await run('mail.routes.yaml', itemFile({ fields: { country: 'de', size: '101' } }))).toEqual({
      lines: ["large, by rules[1]: country == 'de' && size > 100", '  level = 5', '  country = "de"', '  size = 101'],
    });
    expect(await run('mail.routes.yaml', itemFile({ level: 1 }), true)).toEqual({
      lines: ['{"business":"mail","outcome":"flow","flow":"express","rule":0,"when":"level == 1","read":{"level":1}}'],
    });
  });

  it('tells that no rule holds', async () => {
    const item = itemFile({ business: 'mail', key: 'k', flow: 'other', fields: { country: 'fr' } });
    expect((await run('mail.routes.yaml', item)).lines[0]).toBe('intake, by otherwise');
    expect(await run('strict.routes.yaml', item)).toMatchObject({
      lines: ['refused, by otherwise', '  level = 5', '  country = "fr"', '  size = 0'],
    });
  });

  it('ends with 1 when the rules fail for the item', async () => {
    expect(await run('mail.routes.yaml', itemFile({}))).toEqual({
      lines: ['failed, rules[1].when: field country is absent and has no default', '  level = 5'],
      exitCode: 1,
      message: 'the item would be refused',
    });
  });

  it.each<[string, unknown, string]>([
    ['no object', [], '--item: /item.json: is no object'],
    [
      'another business line',
      { business: 'video' },
      '--item: /item.json: business: found "video", the routes are of mail',
    ],
    ['an unknown key', { feilds: {} }, `--item: /item.json: feilds: is unknown; did you mean 'fields'?`],
    ['a wrong level', { level: 10 }, '--item: /item.json: level: found 10, allowed are 1 (first) to 9, and 0 for 5'],
  ])('refuses %s', async (_what, item, message) => {
    expect(await run('mail.routes.yaml', itemFile(item))).toEqual({ lines: [], exitCode: 2, message });
  });
});

describe('weir route test --cases', () => {
  it('says how many came out as expected', async () => {
    const cases = caseFile(`
cases:
  - { item: { level: 1 }, flow: express }
  - { item: { fields: { country: fr } }, flow: intake }
  - { name: no country, item: {}, outcome: failed }
`);
    expect(await run('mail.routes.yaml', cases)).toEqual({ lines: ['cases as expected: 3'] });
  });

  it('tells each that did not, with its place, and ends with 1', async () => {
    const cases = caseFile(`cases:
  - { item: { level: 1 }, flow: intake }
  - { name: French, item: { fields: { country: fr } }, outcome: refused }
  - { item: { level: 1 }, flow: express }
`);
    expect(await run('mail.routes.yaml', cases)).toEqual({
      lines: [
        '/cases.yaml:2:5: expected intake, found express, by rules[0]: level == 1',
        '/cases.yaml:3:5: French: expected refused, found intake, by otherwise',
      ],
      exitCode: 1,
      message: '2 of 3 cases came out otherwise',
    });
    const [first] = (await run('mail.routes.yaml', cases, true)).lines;
    expect(JSON.parse(first ?? '')).toMatchObject({
      ...{ line: 2, ok: false, expected: { kind: 'flow', flow: 'intake' } },
      found: { outcome: 'flow', flow: 'express', rule: 0 },
    });
  });

  it.each([
    ['cases: []', '--cases: /cases.yaml has no cases'],
    [
      'other: []',
      `--cases: nothing was tested\n/cases.yaml:1:1: other: a file of cases has no key "other"; allowed are cases\n/cases.yaml:1:1: a file of cases needs the key 'cases'`,
    ],
    ['cases: [ { flow: a } ]', `--cases: nothing was tested\n/cases.yaml:1:10: cases[0]: a case needs the key 'item'`],
    [
      'cases: [ { item: {}, flow: a, outcome: failed } ]',
      '--cases: nothing was tested\n/cases.yaml:1:10: cases[0]: a case has either flow or outcome',
    ],
    [
      'cases: [ { item: {}, outcome: fails } ]',
      `--cases: nothing was tested\n/cases.yaml:1:22: cases[0].outcome: an outcome cannot be "fails"; did you mean 'failed'?`,
    ],
  ])('refuses %j', async (text, message) => {
    expect(await run('mail.routes.yaml', caseFile(text))).toEqual({ lines: [], exitCode: 2, message });
  });
});
