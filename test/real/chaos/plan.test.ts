import { expect, it } from 'vitest';
import { places, readFailPoint } from '../../../cli/roles/fail-points.ts';
import { FailPointDrill } from './fail-point-drill.ts';
import { drawPlan } from './plan.ts';

const roles = ['engine', 'module', 'module'] as const;

it('a seed gives one plan, another seed another', () => {
  expect(drawPlan(7, 60, roles)).toEqual(drawPlan(7, 60, roles));
  expect(drawPlan(7, 60, roles)).not.toEqual(drawPlan(8, 60, roles));
});

it('a plan has as many kills as it should, and every fail point', () => {
  const { disturbances, failPoints } = drawPlan(7, 60, roles);
  const kills = disturbances.filter(({ kind }) => kind === 'kill');
  expect(kills).toHaveLength(60);
  expect(kills.filter(({ victim }) => victim === 0)).toHaveLength(20);
  expect(disturbances.filter(({ kind }) => kind === 'pause').length).toBeGreaterThan(0);
  const readings = failPoints.map(readFailPoint).map((reading) => (reading.ok ? reading.failPoint : undefined));
  const deadly = readings.flatMap((each) => (each?.signal === 'SIGKILL' ? [each.place] : []));
  expect(deadly.sort()).toEqual([...places].sort());
});

it('a fail point is armed until it has struck, one that was armed in vain after the others', () => {
  const drill = new FailPointDrill(['before-claim:1', 'after-call:3:stop', 'after-post:1']);
  expect(drill.arm()).toBe('before-claim:1');
  expect(drill.arm()).toBe('after-call:3:stop');
  expect(drill.isArmed).toBe(true);
  expect(drill.strike('fail point before-claim')).toBe(false);
  expect(drill.strike('fail point after-call')).toBe(true);
  expect(drill.strike('fail point after-call')).toBe(false);
  expect(drill.arm()).toBe('after-post:1');
  expect(drill.strike('fail point after-post')).toBe(true);
  // A death: the next life is left alone.
  expect(drill.arm()).toBeUndefined();
  expect(drill.isArmed).toBe(false);
  expect(drill.arm()).toBe('before-claim:1');
  expect(drill.isOver).toBe(false);
  expect(drill.strike('fail point before-claim')).toBe(true);
  expect(drill).toMatchObject({ isOver: true, struck: 3 });
  expect(Object.fromEntries(drill.record)).toEqual({
    'before-claim': { armed: 2, deaths: 1, stops: 0 },
    'after-call': { armed: 1, deaths: 0, stops: 1 },
    'after-post': { armed: 1, deaths: 1, stops: 0 },
  });
});
