import { expect, it } from 'vitest';
import { places, readFailPoint } from '../../../cli/up/fail-points.ts';
import { FailPointDrill } from './fail-point-drill.ts';
import { drawPlan } from './plan.ts';

it('a seed gives one plan, another seed another', () => {
  expect(drawPlan(7, 60, 7)).toEqual(drawPlan(7, 60, 7));
  expect(drawPlan(7, 60, 7)).not.toEqual(drawPlan(8, 60, 7));
});

it('a plan has as many kills as it should, and every fail point', () => {
  const { disturbances, failPoints } = drawPlan(7, 60, 7);
  expect(disturbances.filter(({ kind }) => kind === 'kill')).toHaveLength(60);
  expect(disturbances.filter(({ kind }) => kind === 'pause').length).toBeGreaterThan(0);
  const readings = failPoints.map(readFailPoint).map((reading) => (reading.ok ? reading.failPoint : undefined));
  const deadly = readings.flatMap((each) => (each?.signal === 'SIGKILL' ? [each.place] : []));
  expect(deadly.sort()).toEqual([...places].sort());
});

it('a fail point is armed until it has struck, one that was armed in vain after the others', () => {
  const drill = new FailPointDrill(['before-claim:1', 'after-call:3:stop']);
  expect(drill.arm()).toBe('before-claim:1');
  expect(drill.arm()).toBe('after-call:3:stop');
  expect(drill.strike('fail point before-claim')).toBe(false);
  expect(drill.strike('fail point after-call')).toBe(true);
  expect(drill.strike('fail point after-call')).toBe(false);
  expect(drill.arm()).toBe('before-claim:1');
  expect(drill.isOver).toBe(false);
  expect(drill.strike('fail point before-claim')).toBe(true);
  expect(drill.arm()).toBeUndefined();
  expect(drill).toMatchObject({ isOver: true, struck: 2 });
  expect(Object.fromEntries(drill.record)).toEqual({
    'before-claim': { armed: 2, deaths: 1, stops: 0 },
    'after-call': { armed: 1, deaths: 0, stops: 1 },
  });
});
