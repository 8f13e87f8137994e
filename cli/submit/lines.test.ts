import { describe, expect, it } from 'vitest';
import { readLines } from './lines.ts';

async function read(chunks: ReadonlyArray<string | Uint8Array>, maxLineBytes = 100): Promise<unknown[]> {
  async function* source() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
  }
  const groups = [];
  for await (const lines of readLines(source(), maxLineBytes)) {
    groups.push(lines.map((line) => ('text' in line ? `${line.number}:${line.text}` : `${line.number} ${line.kind}`)));
  }
  return groups;
}

describe('readLines', () => {
  it('gives the lines of a chunk together', async () => {
    expect(await read(['a\nb\nc', 'd\ne\n'])).toEqual([
      ['1:a', '2:b'],
      ['3:cd', '4:e'],
    ]);
  });

  it('needs no newline at the end, and skips empty lines', async () => {
    expect(await read(['a\n\n \r\nb'])).toEqual([['1:a'], ['4:b']]);
    expect(await read([])).toEqual([]);
  });

  it('puts a character together that two chunks share', async () => {
    const [first = 0, ...rest] = new TextEncoder().encode('é\n');
    expect(await read([Uint8Array.of(first), Uint8Array.from(rest)])).toEqual([['1:é']]);
  });

  it('goes on after a line that is too long, and after one that is no text', async () => {
    expect(await read(['x'.repeat(60), 'x'.repeat(60), '\nb\n', Uint8Array.of(0xff, 0x0a), 'c'])).toEqual([
      ['1 too long', '2:b'],
      ['3 not utf-8'],
      ['4:c'],
    ]);
    expect(await read(['x'.repeat(100)])).toEqual([[`1:${'x'.repeat(100)}`]]);
  });
});
