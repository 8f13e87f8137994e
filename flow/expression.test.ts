import { describe, expect, it } from 'vitest';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { compileExpression, type Wanted } from './expression.ts';
import { decodeText } from './field-type.ts';

const declared = new Map([
  ['s', FieldType.STRING],
  ['n', FieldType.INT],
  ['x', FieldType.DOUBLE],
  ['b', FieldType.BOOL],
  ['j', FieldType.JSON],
  ['raw', FieldType.BYTES],
]);

function json(value: unknown): unknown {
  const decoded = decodeText(FieldType.JSON, JSON.stringify(value));
  if (decoded.kind === 'error') throw new Error(decoded.message);
  return decoded.value;
}

function compiled(source: string) {
  const result = compileExpression(source, declared);
  if (result.kind === 'invalid') throw new Error(result.message);
  return result.expression;
}

/** What the message of a refusal says; undefined when the expression is accepted. */
function refusal(source: string, wanted?: Wanted): string | undefined {
  const result = compileExpression(source, declared, wanted);
  return result.kind === 'invalid' ? result.message : undefined;
}

const longText = 'a'.repeat(1_048_576);
const longList = json(Array.from({ length: 10_000 }, () => 1));

describe('evaluate', () => {
  it.each<[string, Record<string, unknown>, unknown]>([
    ['x >= 0.9', { x: 0.9 }, true],
    ["s != '' && n > 3", { s: 'a', n: 4n }, true],
    ['n + 1', { n: 9007199254740993n }, 9007199254740994n],
    ['x > 1', { x: 1.5 }, true],
    ['n == 2.0', { n: 2n }, true],
    ["b ? 'yes' : 'no'", { b: false }, 'no'],
    ['j.a.b == 1', { j: json({ a: { b: 1 } }) }, true],
    ["j['a'][1]", { j: json({ a: ['x', 'y'] }) }, 'y'],
    ['has(j.a) && !has(j.b)', { j: json({ a: 1 }) }, true],
    ["'spam' in j.tags", { j: json({ tags: ['ham', 'spam'] }) }, true],
    ['j.filter(e, e > 1)[0]', { j: json([1, 2, 3]) }, 2],
    ['j.map(e, e * 2.0).exists(e, e == 6.0)', { j: json([1, 2, 3]) }, true],
    ['j.map(e, e > 1, e)[1]', { j: json([1, 2, 3]) }, 3],
    ['j.exists_one(e, e == 2)', { j: json([1, 2]) }, true],
    ['j.all(e, j.exists(f, f == e))', { j: json([1, 2]) }, true],
    // A variable of a comprehension hides a field of its name.
    ["j.exists(s, s == 'in')", { j: json(['in']) }, true],
    ["size(s) + size('é😀')", { s: 'abc' }, 5n],
    ["s.matches('^[a-z]+@')", { s: 'me@here' }, true],
    ["int('12') + n", { n: 1n }, 13n],
    ["string(n) + '!'", { n: 1n }, '1!'],
    ['size(j + [1.0])', { j: json([1, 2]) }, 3n],
    // As CEL has it, the side that decides is enough.
    ['b || s == string(1 / n)', { b: true, s: '', n: 0n }, true],
  ])('%s', (source, values, value) => {
    expect(compiled(source).evaluate(values)).toEqual({ kind: 'value', value });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['j.a', { j: json({}) }, 'field not found: a'],
    ['j.__proto__', { j: json({}) }, 'field not found: __proto__'],
    ["j['constructor']", { j: json({}) }, 'field not found: constructor'],
    ['j.toString', { j: json('text') }, 'field not found: toString'],
    ['1 / n', { n: 0n }, 'int divide by zero'],
    ['n + 1', { n: 9223372036854775807n }, 'int overflow during _+_'],
    ['j + 1', { j: json(1) }, "found no matching overload for '_+_' applied to '(double, int)'"],
    ['int(s)', { s: '0x10' }, 'the text is not an int: a decimal number of 64 bits'],
    ['double(s)', { s: '' }, 'the text is not a double: a decimal number as in JSON'],
    ['s', {}, "the field 's' has no value"],
    ['s', { __proto__: { s: 'inherited' } }, "the field 's' has no value"],
  ])('%s fails by name', (source, values, message) => {
    expect(compiled(source).evaluate(values)).toEqual({ kind: 'error', message });
  });

  it('lists the fields that it reads, each once', () => {
    expect(compiled("x > 1.0 && (s == 'a' || x < 0.5) && j.all(b, b == 'c')").fields).toEqual(['x', 's', 'j']);
  });

  it('is not moved by a field that is called like an inherited member', () => {
    const result = compileExpression("constructor == 'x'", new Map([['constructor', FieldType.STRING]]));
    if (result.kind === 'invalid') throw new Error(result.message);
    expect(result.expression.evaluate({})).toEqual({ kind: 'error', message: "the field 'constructor' has no value" });
    expect(result.expression.evaluate({ constructor: 'x' })).toEqual({ kind: 'value', value: true });
  });
});

describe('evaluate under attack', () => {
  const spent = 'the expression takes more than 1000000 units of work';

  it.each<[string, string, Record<string, unknown>, string]>([
    ['nested comprehensions', 'j.all(e, j.all(f, true))', { j: longList }, spent],
    ['nested maps', 'size(j.map(e, j.map(f, f)))', { j: longList }, spent],
    ['a scan per element', "j.all(e, s.contains('ab') || true)", { j: longList, s: longText }, spent],
    ['a pattern per element', "j.all(e, s.matches('(a*)*b') || true)", { j: longList, s: longText }, spent],
    ['a comparison per element', 'j.all(e, j == j)', { j: longList }, spent],
    ['doubled texts', `${'s + '.repeat(200)}s`, { s: longText }, 'a text of more than 1048576 characters'],
    ['doubled lists', 'j + j', { j: longList }, 'a list of more than 10000 elements'],
    [
      'texts doubled in a list',
      `[${'s + s, '.repeat(100)}s]`,
      { s: longText },
      'a text of more than 1048576 characters',
    ],
  ])('stops %s', (_what, source, values, message) => {
    expect(compiled(source).evaluate(values)).toEqual({ kind: 'error', message });
  });

  it('starts each evaluation with a full budget', () => {
    const expression = compiled('j.exists(e, e == 2)');
    for (let round = 0; round < 20; round++) {
      expect(expression.evaluate({ j: longList })).toEqual({ kind: 'value', value: false });
    }
  });

  it('walks the longest list', () => {
    expect(compiled('size(j.map(e, e + 1.0).filter(e, e > 1.0))').evaluate({ j: longList })).toEqual({
      kind: 'value',
      value: 10_000n,
    });
  });

  it.each(['(a*)*b', '^(a|a)*$', '(a|aa)+$', '^(a+)+b', '(.*){10}b', '(a{1,100}){1,10}b', '(x+x+)+y'])(
    'matches %s in linear time',
    (pattern) => {
      // A backtracking engine would not come back from this.
      expect(compiled(`s.matches('${pattern}')`).evaluate({ s: 'a'.repeat(100_000) })).toMatchObject({ kind: 'value' });
    },
  );
});

describe('compileExpression refuses', () => {
  it.each<[string, string, string]>([
    ['nothing', '', 'an expression is needed, found an empty text'],
    ['blanks', '  ', 'an expression is needed, found an empty text'],
    ['half an expression', 's ==', 'line 1, column 3: found = but expecting end of input'],
    ['an assignment', "s = 'a'", 'line 1, column 3: found = but expecting end of input'],
    ['a statement', 'while (true) {}', 'line 1, column 1: reserved identifier'],
    [
      'a template',
      '`${s}`',
      "line 1, column 1: found ` but expecting '!', '(', '-', '.', '[', '{', boolean literal, bytes literal, comment, float literal, identifier, integer literal, null literal, selector, string literal, unsigned integer literal, or whitespace",
    ],
    ['an unknown name', 'y > 1.0', "line 1, column 1: 'y' is not a declared field"],
    ['a name on its line', "s == 'a' &&\n  spam_score > 1.0", "line 2, column 3: 'spam_score' is not a declared field"],
    [
      'a way to code',
      "constructor.constructor('x')",
      "line 1, column 1: 'constructor' is not a declared field; line 1, column 12: no function 'constructor' exists; functions are all, bool, contains, double, endsWith, exists, exists_one, filter, has, int, map, matches, size, startsWith, string",
    ],
    ['a prototype', '__proto__ == s', "line 1, column 1: '__proto__' is not a declared field"],
    [
      'a clock',
      'now()',
      "line 1, column 1: no function 'now' exists; functions are all, bool, contains, double, endsWith, exists, exists_one, filter, has, int, map, matches, size, startsWith, string",
    ],
    [
      'a time zone',
      "timestamp(s).getHours('Asia/Tokyo') > 1",
      "line 1, column 1: no function 'timestamp' exists; functions are all, bool, contains, double, endsWith, exists, exists_one, filter, has, int, map, matches, size, startsWith, string; line 1, column 13: no function 'getHours' exists; functions are all, bool, contains, double, endsWith, exists, exists_one, filter, has, int, map, matches, size, startsWith, string",
    ],
    [
      'a type',
      'google.protobuf.Timestamp{}',
      "line 1, column 1: no type 'google.protobuf.Timestamp' exists; a map is written { 'key': value }",
    ],
    ['a misspelt function', 'sizee(s) > 1', "line 1, column 1: no function 'sizee' exists; did you mean 'size'?"],
    ['has of a field', 'has(s)', 'line 1, column 1: has(…) asks for a member, as in has(field.member)'],
    ['half a comprehension', 'j.all(e)', 'line 1, column 2: all(…) is written list.all(name, expression)'],
    [
      'bytes',
      "raw == 'a'",
      "line 1, column 1: 'raw' is declared as bytes, which expressions cannot read; declare another type",
    ],
    [
      'unsigned numbers',
      '1u == n',
      'line 1, column 1: unsigned numbers and bytes are not available; allowed are string, int, double, bool, null',
    ],
    ['a text and a number', 's + 1', 'line 1, column 3: + does not take (string, int)'],
    [
      'an int and a double',
      'x + 1',
      'line 1, column 3: + does not take (double, int); write 1.0 instead of 1, or double(…)',
    ],
    ['what is never equal', 'x == s', 'line 1, column 3: a double never equals a string'],
    ['a text as a condition', 's && b', 'line 1, column 1: && takes bool, found string'],
    ['a choice by a text', 's ? 1 : 2', 'line 1, column 1: ?: takes bool, found string'],
    [
      'a member of a text',
      's.length',
      "line 1, column 2: a string has no member 'length'; only JSON objects have members",
    ],
    ['an element of a number', 'n[0]', 'line 1, column 2: an int has no elements'],
    ['elements of a text', 's.all(e, true)', 'line 1, column 2: a string has no elements; only lists and maps have'],
    ['a pattern from an item', 's.matches(s)', 'line 1, column 2: the pattern of matches must be a text in quotes'],
    ['a broken pattern', "s.matches('(')", 'line 1, column 2: error parsing regexp: missing closing ): `(`'],
    [
      'a look-behind',
      "s.matches('(?<=a)b')",
      'line 1, column 2: error parsing regexp: invalid named capture: `(?<=a)b`',
    ],
    [
      'a pattern that multiplies',
      "s.matches('((a{100}){100}){100}')",
      'line 1, column 2: error parsing regexp: invalid repeat count: `{100}`',
    ],
    [
      'a long pattern',
      `s.matches('${'a'.repeat(257)}')`,
      'line 1, column 2: the pattern has 257 characters; at most 256 are allowed',
    ],
    [
      'three comprehensions inside one another',
      'j.all(e, j.all(f, j.all(g, true)))',
      'line 1, column 20: comprehensions stand 3 deep inside one another; at most 2',
    ],
  ])('%s', (_what, source, message) => {
    expect(refusal(source)).toBe(message);
  });

  it.each<[string, string, string]>([
    ["s == 'a'".padEnd(4_096), "s == 'a'".padEnd(4_097), 'found 4097 characters; an expression has at most 4096'],
    [
      '('.repeat(64) + 'b' + ')'.repeat(64),
      '('.repeat(65) + 'b' + ')'.repeat(65),
      'found brackets 65 deep inside one another; at most 64 are allowed',
    ],
    [
      `s == '${'('.repeat(100)}'`,
      '['.repeat(4_000),
      'found brackets 4000 deep inside one another; at most 64 are allowed',
    ],
    [`${'n + '.repeat(250)}n`, `${'n + '.repeat(256)}n`, 'found operators 257 deep inside one another; at most 256'],
    [
      `${"s == 'a' || ".repeat(300)}b`,
      `n${' + n'.repeat(1_000)}`,
      'found operators 1001 deep inside one another; at most 256',
    ],
    [
      'j.map(e, e).map(e, e).map(e, e)',
      'j.map(e, j.map(f, j.map(g, g)))',
      'line 1, column 20: comprehensions stand 3 deep inside one another; at most 2',
    ],
  ])('what is beyond a limit, and accepts what is at it %#', (accepted, refused, message) => {
    expect(refusal(accepted)).toBeUndefined();
    expect(refusal(refused)).toBe(message);
  });

  it('a value of another type than is wanted, where the type is known', () => {
    expect(refusal('x', FieldType.BOOL)).toBe('the value is a double, bool is needed');
    expect(refusal("b ? 'a' : 's'", FieldType.INT)).toBe('the value is a string, int is needed');
    expect(refusal('x > 1.0', FieldType.BOOL)).toBeUndefined();
    expect(refusal('j.a', FieldType.BOOL)).toBeUndefined();
    expect(refusal('[x]', FieldType.JSON)).toBeUndefined();
  });

  it('what is no list, where the type is known', () => {
    expect(refusal('s', 'list')).toBe('the value is a string, list is needed');
    expect(refusal("{ 'a': 1 }", 'list')).toBe('the value is a map, list is needed');
    expect(refusal('[x]', 'list')).toBeUndefined();
    expect(refusal('j.filter(e, e > 1)', 'list')).toBeUndefined();
    expect(refusal('j', 'list')).toBeUndefined();
  });

  it('what is no time, where the type is known', () => {
    expect(refusal('x', 'time')).toBe('the value is a double, int or string is needed');
    expect(refusal('n + 60000', 'time')).toBeUndefined();
    expect(refusal("'2030-01-01T00:00:00Z'", 'time')).toBeUndefined();
    expect(refusal('j.due', 'time')).toBeUndefined();
  });
});
