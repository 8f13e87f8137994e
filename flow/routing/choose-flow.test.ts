import { describe, expect, it } from 'vitest';
import { chooseFlow, compileRoutes } from './choose-flow.ts';
import { parseRoutes } from './definition.ts';

const text = `
business: mail
fields: { country: string, size: { type: int, default: 0 }, tags: { type: json, default: [] } }
rules:
  - { when: "level <= 2", flow: express }
  - { when: "country == 'de' && size > 100", flow: large }
  - { when: "'spam' in tags", flow: quarantine }
otherwise: intake
`;

function routes(of = text) {
  const parsed = parseRoutes(of);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return compileRoutes(parsed.table);
}

function choose(fields: Readonly<Record<string, string>>, level = 5, of = text) {
  const values = Object.entries(fields).map(([name, value]) => [name, { bytes: Buffer.from(value) }] as const);
  return chooseFlow(routes(of), { level, fields: new Map(values) });
}

describe('chooseFlow', () => {
  it('takes the first rule that holds, and reads no more than it needs', () => {
    expect(choose({}, 2)).toEqual({ kind: 'flow', flow: 'express', rule: 0, read: new Map([['level', 2n]]) });
    expect(choose({ country: 'de', size: '101' })).toMatchObject({ kind: 'flow', flow: 'large', rule: 1 });
    expect(choose({ country: 'fr', tags: '["spam"]' })).toMatchObject({ kind: 'flow', flow: 'quarantine', rule: 2 });
  });

  it('takes otherwise when none holds, and says what was read', () => {
    const choice = choose({ country: 'fr' });
    expect(choice).toMatchObject({ kind: 'flow', flow: 'intake' });
    expect(choice).not.toHaveProperty('rule');
    expect([...choice.read.keys()]).toEqual(['level', 'country', 'size', 'tags']);
  });

  it('refuses what no rule takes when otherwise says so', () => {
    expect(choose({ country: 'fr' }, 5, text.replace('otherwise: intake', 'otherwise: refuse'))).toMatchObject({
      kind: 'refused',
    });
  });

  it('knows the business line', () => {
    const of = `{ business: mail, rules: [{ when: "business == 'mail'", flow: a }], otherwise: refuse }`;
    expect(choose({}, 5, of)).toMatchObject({ flow: 'a', read: new Map([['business', 'mail']]) });
  });

  it.each<[string, Record<string, string>, string]>([
    ['a field that is absent', {}, 'rules[1].when: field country is absent and has no default'],
    [
      'a value of another type',
      { country: 'de', size: 'x' },
      'rules[1].when: field size is not an int: a decimal number of 64 bits',
    ],
  ])('fails by name for %s, and tries no later rule', (_what, fields, message) => {
    expect(choose(fields)).toMatchObject({ kind: 'failed', rule: 1, message });
  });

  it('fails for a value that is kept elsewhere, and for an expression without a value', () => {
    const reference = { bytes: new Uint8Array(), reference: { $typeName: 'weir.module.v1.FieldReference' as const } };
    expect(chooseFlow(routes(), { level: 5, fields: new Map([['country', reference]]) })).toMatchObject({
      message: "rules[1].when: field country is kept elsewhere and can't be read by a rule",
    });
    const of = '{ business: mail, fields: { n: int }, rules: [{ when: "1 / n == 1", flow: a }], otherwise: refuse }';
    expect(choose({ n: '0' }, 5, of)).toMatchObject({ kind: 'failed', rule: 0 });
  });

  it('finds nothing under names that every object has', () => {
    const of =
      '{ business: mail, fields: { constructor: string }, rules: [{ when: "constructor == \'x\'", flow: a }], otherwise: b }';
    expect(choose({ constructor: 'x' }, 5, of)).toMatchObject({ flow: 'a' });
    expect(choose({}, 5, of)).toMatchObject({
      message: 'rules[0].when: field constructor is absent and has no default',
    });
  });
});
