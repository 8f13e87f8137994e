// The table of the cluster file in docs/operations.md, against the reader of such files.

import { describe, expect, it } from 'vitest';
import { readClusterFile } from '../../../cli/cluster/cluster-file.ts';
import { codeIn, readDocument } from './markdown.ts';

const least = {
  zookeeper: { servers: ['127.0.0.1:2181'] },
  redis: { servers: ['127.0.0.1:6379'] },
  hbase: { servers: ['127.0.0.1:16020'] },
};
type File = Record<string, Record<string, unknown>>;

const rows = readDocument('docs/operations.md')
  .table('The cluster file')
  .map(([key = '', value = '', allowed = '']) => ({ key: codeIn(key), value, allowed }));

/** The least file, with one more value at `key`. */
function fileWith(key: string, value: unknown): string {
  const [section = '', name] = key.split('.');
  const file: File = structuredClone(least);
  return JSON.stringify(name === undefined ? { ...file, [section]: value } : merged(file, section, name, value));
}

function merged(file: File, section: string, name: string, value: unknown): File {
  return { ...file, [section]: { ...file[section], [name]: value } };
}

function problemsOf(text: string, environment: Record<string, string> = {}): string[] {
  const reading = readClusterFile(text, environment);
  return reading.ok ? [] : reading.problems.map(({ path, message }) => `${path}: ${message}`);
}

/** The keys that stand beside an unknown one, as its refusal lists them. */
function keysBeside(unknown: string): string[] {
  const [problem = ''] = problemsOf(fileWith(unknown, 1)).filter((each) => each.includes('is unknown'));
  const prefix = unknown.includes('.') ? unknown.slice(0, unknown.indexOf('.') + 1) : '';
  const [, allowed = ''] = /allowed are (.*)$/.exec(problem) ?? [];
  return allowed.split(', ').map((key) => prefix + key);
}

/** What was read for `zookeeper.session_ms`, as text. */
function valueAt(settings: unknown, key: string): string {
  const camel = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  let value = settings;
  for (const name of key.split('.')) value = (value as Record<string, unknown> | undefined)?.[camel(name)];
  return String(value);
}

describe('the table of the cluster file', () => {
  it('has every key', () => {
    const sections = ['zookeeper', 'redis', 'hbase', 'dispatch', 'spout'];
    const plain = keysBeside('other').filter((key) => !sections.includes(key));
    const nested = sections.flatMap((section) => keysBeside(`${section}.other`));
    expect(rows.map(({ key }) => key).toSorted()).toEqual([...plain, ...nested].toSorted());
  });

  const reading = readClusterFile(JSON.stringify(least), {});
  if (!reading.ok) throw new Error('the least file is refused');
  const literal = rows.filter(({ value }) => /^`[^`]+`$/.test(value) && codeIn(value) !== 'dispatch.address');
  it.each(literal)('$key has its default', ({ key, value }) => {
    expect(valueAt(reading.settings, key)).toBe(codeIn(value));
  });

  it.each(rows.filter(({ value }) => value === 'required'))('$key is required', ({ key }) => {
    const [section = ''] = key.split('.');
    expect(problemsOf(JSON.stringify({ ...least, [section]: {} }))).toEqual([
      expect.stringContaining(`${key} is absent`),
    ]);
  });

  const numbers = rows.flatMap(({ key, allowed }) => {
    const [, from, to] = /^(\d+) to (\d+)(?: ms)?$/.exec(allowed) ?? [];
    return from === undefined ? [] : [{ key, from: Number(from), to: Number(to) }];
  });
  it.each(numbers)('$key is from $from to $to', ({ key, from, to }) => {
    const refusal = `${key}: `;
    for (const wrong of [from - 1, to + 1]) {
      expect(problemsOf(fileWith(key, wrong))).toEqual([expect.stringContaining(`from ${from} to ${to}`)]);
    }
    // One that is allowed may contradict another setting.
    for (const right of [from, to]) {
      expect(
        problemsOf(fileWith(key, right)).filter((each) => each.startsWith(refusal) && each.includes('whole')),
      ).toEqual([]);
    }
  });

  const ofFileOnly = ['redis.password', 'hbase.via', 'modules', 'register', 'addresses'];
  const overridden = rows.filter(({ key }) => !ofFileOnly.includes(key));
  it.each(overridden)('a variable stands in for $key', ({ key }) => {
    const variable = `WEIR_${key.replaceAll('.', '_').toUpperCase()}`;
    expect(problemsOf(JSON.stringify(least), { [variable]: ' ' }).join()).toContain(variable);
  });
});
