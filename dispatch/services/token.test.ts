import { describe, expect, it } from 'vitest';
import { callKey, runId } from '../../flow/run-id.ts';
import { readToken } from './token.ts';

const run = (key: string, generation = 1) =>
  runId({ business: 'b', flow: 'f', itemKey: Buffer.from(key, 'latin1'), generation });

describe('a token', () => {
  it.each([
    ['a plain key', run('item')],
    ['slashes and percents', run('a/b%2F/1')],
    ['any bytes, and a later generation', run('\u0000\u00ff é', 7)],
    ['a child', run(callKey(run('a/b'), 'each[3]', 2))],
  ])('is read back: %s', (_, of) => {
    expect(readToken(callKey(of, 'step', 3))).toEqual({ run: of, step: 'step', round: 3 });
  });

  it.each([
    [''],
    ['step'],
    ['1/b/f/key/step'],
    ['1/b/f/key/step/0'],
    ['0/b/f/key/step/1'],
    ['1/b/f/key/step/1/more'],
    ['1/b/f//step/1'],
    ['1/b/f/%zz/step/1'],
    ['1/b/f/%6b/step/1'],
    ['1/b/f/%E4%B8%AD/step/1e0'],
    ['01/b/f/key/step/1'],
    ['1/b/f/key/step/1 '],
    [`1/b/f/${'k'.repeat(9_000)}/step/1`],
  ])('is refused: %s', (text) => expect(readToken(text)).toBeUndefined());
});
