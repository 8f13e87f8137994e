import { describe, expect, it } from 'vitest';
import { isWhole, nextEntry, readEntry } from './configuration-node.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('an entry in a node', () => {
  it('is read as it was written, with line feeds in it', () => {
    const value = bytes('a\nb\n');
    const node = readEntry(nextEntry(undefined, 'w1', value, undefined));
    expect(Buffer.from(node?.value ?? [])).toEqual(Buffer.from(value));
    expect(node?.head).toMatchObject({ version: 1, writers: ['w1'], bytes: 4 });
  });

  it('counts versions and remembers the last writers', () => {
    let head = readEntry(nextEntry(undefined, 'w1', bytes(''), undefined))?.head;
    for (let put = 2; put <= 20; put++) head = readEntry(nextEntry(head, `w${put}`, bytes(''), undefined))?.head;
    expect(head?.version).toBe(20);
    expect(head?.writers).toHaveLength(16);
    expect(head?.writers.at(-1)).toBe('w20');
    expect(head?.writers).not.toContain('w4');
  });

  it('names the chunks of a large value, which are checked against it', () => {
    const value = new Uint8Array(1_000).fill(7);
    const data = nextEntry(undefined, 'w', value, 'set-1');
    expect(data.length).toBeLessThan(300);
    const node = readEntry(data);
    expect(node?.value).toBeUndefined();
    expect(node?.head.chunks).toBe('set-1');
    expect(node && isWhole(node.head, value)).toBe(true);
    expect(node && isWhole(node.head, value.subarray(1))).toBe(false);
  });

  const whole = Buffer.from(nextEntry(undefined, 'w', bytes('value'), undefined));
  for (const [what, data] of [
    ['nothing', Buffer.alloc(0)],
    ['no line', Buffer.from('{}')],
    ['no JSON', Buffer.from('x\n')],
    ['null', Buffer.from('null\n')],
    ['another form', Buffer.from(whole.toString().replace('"form":1', '"form":2'))],
    ['version 0', Buffer.from(whole.toString().replace('"version":1', '"version":0'))],
    ['a cut value', whole.subarray(0, -1)],
    ['another value', Buffer.from(whole.toString().replace('value', 'walue'))],
  ] as const) {
    it(`is not ${what}`, () => expect(readEntry(data)).toBeUndefined());
  }
});
