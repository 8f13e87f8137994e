import { describe, expect, it } from 'vitest';
import { readSettings, type Setting } from './settings.ts';

function read<T>(text: string, reader: (root: Setting) => T, maxBytes = 1_000) {
  const reading = readSettings(text, { maxBytes }, reader);
  if (reading.ok) return reading.value;
  return reading.problems.map(({ path, message, line, column }) => `${path} (${line}:${column}): ${message}`);
}

describe('readSettings', () => {
  it('gives values of the types that were asked for', () => {
    const text = 'name: weir\nplaces: 3\nlist: [a, b]\nmap: {x: 1, y: 2}';
    const value = read(text, (root) => {
      const section = root.section(['name', 'places', 'list', 'map', 'absent']);
      return {
        name: section?.name?.text(),
        places: section?.places?.wholeNumber({ min: 1, max: 3 }),
        list: section?.list?.list({ minItems: 1, maxItems: 2 })?.map((item) => item.text()),
        map: section?.map?.entries()?.map(([key, item]) => [key, item.wholeNumber({ min: 1, max: 2 })]),
        absent: section?.absent,
      };
    });
    expect(value).toEqual({
      name: 'weir',
      places: 3,
      list: ['a', 'b'],
      map: [
        ['x', 1],
        ['y', 2],
      ],
      absent: undefined,
    });
  });

  it('tells all problems, each with its place', () => {
    const text = 'name: 7\nplaces: 4\nlist: []\nother: 1';
    const problems = read(text, (root) => {
      const section = root.section(['name', 'places', 'list']);
      section?.name?.text();
      section?.places?.wholeNumber({ min: 1, max: 3 });
      section?.list?.list({ minItems: 1, maxItems: 2 });
    });
    expect(problems).toEqual([
      'other (4:8): is unknown; allowed are name, places, list',
      'name (1:7): 7 is not a string',
      'places (2:9): 4 is not a whole number from 1 to 3',
      'list (3:7): 0 items, allowed are 1 to 2',
    ]);
  });

  it('a reader may add problems of its own', () => {
    expect(read('x', (root) => root.problem('is not what it should be'))).toEqual([' (1:1): is not what it should be']);
  });

  it('refuses keys that are no strings, repeated keys, and values that are aliases', () => {
    const walk = (root: Setting) => root.entries()?.map(([, value]) => value.text());
    expect(read('1: a', walk)).toEqual([' (1:1): key 1 is not a string']);
    expect(read('a: x\na: y', walk)).toEqual(['a (2:1): is there twice']);
    expect(read('a: &x y\nb: *x', walk)).toEqual([
      'b (2:4): alias *x (aliases are not resolved; write the value here) is not a string',
    ]);
  });

  it('quotes only the beginning of what it found', () => {
    expect(read(`"${'x'.repeat(200)}"`, (root) => root.wholeNumber({ min: 0, max: 1 }))).toEqual([
      ` (1:1): "${'x'.repeat(59)}… is not a whole number from 0 to 1`,
    ]);
  });

  it('tells where the text cannot be read', () => {
    expect(read('a: [1', (root) => root)).toEqual([expect.stringMatching(/^ \(1:\d+\): /)]);
    expect(read('a: 1\n---\nb: 2', (root) => root)).toEqual([expect.stringMatching(/^ \(2:1\): /)]);
    expect(read('a: !thing 1', (root) => root)).toEqual([expect.stringMatching(/^ \(1:4\): Unresolved tag: !thing/)]);
  });

  it('refuses what is too large or nested too deeply', () => {
    expect(read('x'.repeat(11), (root) => root, 10)).toEqual([' (0:0): 11 bytes, at most 10 are allowed']);
    expect(read('['.repeat(20_000) + ']'.repeat(20_000), (root) => root, 100_000)).toEqual([
      expect.stringMatching(/^ \(1:\d+\): is nested too deeply$/),
    ]);
  });

  it('tells at most a hundred problems', () => {
    const text = JSON.stringify(Array.from({ length: 200 }, () => 1));
    const problems = read(text, (root) => root.list({ minItems: 0, maxItems: 200 })?.map((item) => item.text()));
    expect(problems).toHaveLength(100);
  });
});
