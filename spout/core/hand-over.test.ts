import { describe, expect, it } from 'vitest';
import { HandOver } from './hand-over.ts';

const nobody = () => [];
const by =
  (...others: string[]) =>
  () =>
    others;
const isThere = () => true;
const isGone = () => false;

describe('HandOver', () => {
  it('begins at once what nobody else has, and what is of one that is gone', () => {
    const handOver = new HandOver(1_000);
    handOver.change([3, 1], nobody, isThere, 0);
    expect(handOver.ours).toEqual([1, 3]);
    handOver.change([1, 2, 3], by('dead'), isGone, 0);
    expect(handOver.ours).toEqual([1, 2, 3]);
    expect(handOver.nextMs).toBeUndefined();
  });

  it('waits for who is there, once and not again with each change', () => {
    const handOver = new HandOver(1_000);
    handOver.change([1], by('other'), isThere, 0);
    handOver.change([1, 2], by('other'), isThere, 600);
    expect(handOver.nextMs).toBe(1_000);
    expect(handOver.begin(999)).toBe(false);
    expect(handOver.begin(1_000)).toBe(true);
    expect(handOver.ours).toEqual([1]);
    expect(handOver.nextMs).toBe(1_600);
  });

  it('waits no longer for one that goes meanwhile', () => {
    const handOver = new HandOver(1_000);
    handOver.change([1], by('other'), isThere, 0);
    handOver.change([1], nobody, isGone, 300);
    expect(handOver.ours).toEqual([1]);
  });

  it('gives up at once what it is to lose, also what it waits for', () => {
    const handOver = new HandOver(1_000);
    handOver.change([1, 2], nobody, isThere, 0);
    handOver.change([1, 2, 3], by('other'), isThere, 0);
    handOver.change([2], nobody, isThere, 10);
    expect(handOver.ours).toEqual([2]);
    expect(handOver.begin(5_000)).toBe(false);
  });
});
