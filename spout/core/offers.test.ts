import { describe, expect, it } from 'vitest';
import type { RunId } from '../../flow/run.ts';
import { Offers } from './offers.ts';

const settings = { maxOffers: 3, offerTimeoutMs: 5_000, reofferMs: 250 };
const run = '1/mail/intake/a' as RunId;
const fence = { epoch: 1, version: 2 };
const link = { name: 'link' };
const ticket = { link };

describe('Offers', () => {
  it('rests a run that was offered, at that fence only', () => {
    const offers = new Offers(settings);
    expect(offers.mayOffer(run, fence, 0)).toBe(true);
    offers.sent(run, fence, ticket, 0);
    expect(offers.mayOffer(run, fence, 4_999)).toBe(false);
    expect(offers.mayOffer(run, { epoch: 1, version: 3 }, 1)).toBe(true);
    expect(offers.mayOffer(run, { epoch: 2, version: 2 }, 1)).toBe(true);
    expect(offers.mayOffer(run, fence, 5_000)).toBe(true);
  });

  it('goes on resting a run that was accepted', () => {
    const offers = new Offers(settings);
    offers.sent(run, fence, ticket, 0);
    offers.answered(run, link, 'accepted', 100);
    expect(offers.mayOffer(run, fence, 4_999)).toBe(false);
    expect(offers.expire(4_999)).toEqual([]);
    // The answer may be that to an earlier offer of the run, while this one got lost.
    expect(offers.expire(5_000)).toEqual([ticket]);
    expect(offers.size).toBe(0);
  });

  it('rests a refused run for a while, longer each time at the same fence, never longer than an unanswered one', () => {
    const offers = new Offers(settings);
    let nowMs = 0;
    for (const pauseMs of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
      offers.sent(run, fence, ticket, nowMs);
      offers.answered(run, link, 'gone', nowMs);
      expect(offers.mayOffer(run, fence, nowMs + pauseMs - 1)).toBe(false);
      expect(offers.mayOffer(run, fence, nowMs + pauseMs)).toBe(true);
      nowMs += pauseMs;
      offers.expire(nowMs);
    }
    const moved = { epoch: 2, version: 9 };
    offers.sent(run, moved, ticket, nowMs);
    offers.answered(run, link, 'gone', nowMs);
    expect(offers.mayOffer(run, moved, nowMs + 250)).toBe(true);
  });

  it('rests a run that nobody had room for equally short each time: that says nothing about the run', () => {
    const offers = new Offers(settings);
    for (const nowMs of [0, 250, 500]) {
      offers.sent(run, fence, ticket, nowMs);
      offers.answered(run, link, 'declined', nowMs);
      expect(offers.mayOffer(run, fence, nowMs + 249)).toBe(false);
      expect(offers.mayOffer(run, fence, nowMs + 250)).toBe(true);
    }
    offers.sent(run, fence, ticket, 750);
    offers.answered(run, link, 'gone', 750);
    expect(offers.mayOffer(run, fence, 1_000)).toBe(true);
  });

  it('rests a run whose lock another has: first shortly, since it may be given back, then until the lock ends', () => {
    const offers = new Offers(settings);
    let nowMs = 0;
    for (const [busyForMs, pauseMs] of [
      [15_000, 250],
      [14_750, 14_750],
      [1, 250],
      [10_000_000, 60_000],
    ] as const) {
      offers.sent(run, fence, ticket, nowMs);
      offers.answered(run, link, { busyForMs }, nowMs);
      expect(offers.mayOffer(run, fence, nowMs + pauseMs - 1)).toBe(false);
      expect(offers.mayOffer(run, fence, nowMs + pauseMs)).toBe(true);
      expect(offers.mayOffer(run, { epoch: 9, version: 9 }, nowMs)).toBe(true);
      nowMs += pauseMs;
      offers.expire(nowMs);
    }
  });

  it('forgets refusals in the end', () => {
    const offers = new Offers(settings);
    offers.sent(run, fence, ticket, 0);
    offers.answered(run, link, 'gone', 0);
    offers.expire(5_250);
    expect(offers.size).toBe(0);
  });

  it('reports an unanswered offer lost, once', () => {
    const offers = new Offers(settings);
    offers.sent(run, fence, ticket, 0);
    expect(offers.expire(4_999)).toEqual([]);
    expect(offers.expire(5_000)).toEqual([ticket]);
    expect(offers.expire(5_001)).toEqual([]);
  });

  it('ignores an answer by another link, and a second answer', () => {
    const offers = new Offers(settings);
    offers.sent(run, fence, ticket, 0);
    offers.answered(run, { name: 'other' }, 'gone', 0);
    expect(offers.mayOffer(run, fence, 300)).toBe(false);
    offers.answered(run, link, 'accepted', 0);
    offers.answered(run, link, 'gone', 0);
    expect(offers.mayOffer(run, fence, 300)).toBe(false);
  });

  it('forgets what was offered by a link that ended', () => {
    const offers = new Offers(settings);
    offers.sent(run, fence, ticket, 0);
    offers.forgetLink(link);
    expect(offers.mayOffer(run, fence, 0)).toBe(true);
    expect(offers.expire(10_000)).toEqual([]);
  });

  it('forgets the oldest when there are too many, and reports it lost', () => {
    const offers = new Offers<{ link: object; number: number }>(settings);
    const lost = [1, 2, 3, 4].flatMap((number) => [
      ...offers.sent(`1/m/f/${number}` as RunId, fence, { link, number }, 0),
    ]);
    expect(lost).toEqual([{ link, number: 1 }]);
    expect(offers.size).toBe(3);
    expect(offers.sent('1/m/f/4' as RunId, { epoch: 5, version: 5 }, { link, number: 5 }, 0)).toEqual([
      { link, number: 4 },
    ]);
  });
});
