// Random flows through random lives: see properties/checks.ts and properties/history.ts for what holds. `npm run golden` has no part in it.

import { describe, expect, it } from 'vitest';
import { compileFlow } from '../../flow/compile.ts';
import { parseFlow } from '../../flow/definition/definition.ts';
import { flowLimits } from '../../flow/definition/limits.ts';
import { VirtualRun } from '../../flow/simulation/virtual-run.ts';
import { isTerminal } from '../../flow/standing.ts';
import { Ending, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { History } from './properties/history.ts';
import { Random } from './properties/random.ts';
import { randomLife } from './properties/random-life.ts';

const lives = 400;

describe('random lives of random flows', () => {
  const histories: History[] = [];

  it.each(Array.from({ length: lives / 20 }, (_, block) => block * 20))('end, from seed %i on', (first) => {
    for (let seed = first; seed < first + 20; seed++) histories.push(lived(seed));
    expect(histories.every(({ status }) => isTerminal(status.state))).toBe(true);
  });

  it('see all that may happen to a run', () => {
    const seen = new Set(histories.flatMap(({ status, plan, run }) => [State[status.state], ...seenIn(plan, run)]));
    const kinds = ['call', 'switch', 'inline', 'join', 'wait', 'callback', 'sub_flow', 'start_flow', 'for_each'];
    const ends = [
      'SUCCEEDED',
      'FAILED',
      'CANCELLED',
      'a second round',
      'a join without all',
      'a failure that harms nobody',
    ];
    expect([...kinds, ...ends].filter((each) => !seen.has(each))).toEqual([]);
  });

  it('are the same when lived twice', () => {
    for (let seed = 0; seed < 20; seed++) expect(lived(seed).run).toEqual(lived(seed).run);
  });
});

function lived(seed: number): History {
  try {
    return randomLife(new Random(seed));
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function seenIn(plan: History['plan'], run: History['run']): string[] {
  return plan.steps.flatMap(({ id, action }) => {
    const state = run.steps.get(id);
    if (state === undefined) return [];
    const isOver = run.control.status.state === State.SUCCEEDED;
    return [
      ...(state.status === StepStatus.DONE ? [action.kind] : []),
      ...(state.round > 1 ? ['a second round'] : []),
      ...(action.kind === 'join' && action.need > 0 && state.status === StepStatus.DONE ? ['a join without all'] : []),
      ...(isOver && state.status === StepStatus.FAILED ? ['a failure that harms nobody'] : []),
    ];
  });
}

describe('a long list', () => {
  const parsed = parseFlow(`
flow: long
business: golden
fields: { items: json, results: json, out: string }
steps:
  each: { for_each: items, as: item, call: worker, receive: [out], into: results, concurrency: 256 }`);
  if (parsed.kind !== 'flow') throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  const plan = compileFlow(parsed.flow, 1);

  it('has at most so many elements: one more is refused before anything begins', () => {
    const { effects, control } = new VirtualRun(plan).submit(listOf(flowLimits.maxBranches + 1));
    expect(effects).toEqual([]);
    expect(control.status.state).toBe(State.FAILED);
    expect(control.status.detail).toContain('a list of more than 10000 elements');
  });

  it('is joined once, after the last branch, and the results fit into a field', () => {
    const run = new VirtualRun(plan);
    const calls = [...run.submit(listOf(flowLimits.maxBranches)).effects];
    const out = { bytes: new TextEncoder().encode('x'.repeat(80)) };
    let joined = 0;
    for (const effect of calls) {
      if (effect.kind !== 'call') continue;
      const { step, round, attempt } = effect;
      const answer = { ending: Ending.SUCCEEDED, message: '', fields: new Map([['out', out]]) };
      const { changes, effects } = run.happen({ kind: 'answered', step, round, attempt, answer, tries: [] });
      calls.push(...effects);
      if (changes.fields.has('each/results')) joined += 1;
    }
    expect(calls).toHaveLength(flowLimits.maxBranches);
    expect(joined).toBe(1);
    expect(run.run.control.status.state).toBe(State.SUCCEEDED);
    expect(run.run.fields.get('each/results')?.bytes.length).toBeLessThanOrEqual(flowLimits.maxResultBytes);
  });
});

function listOf(count: number) {
  const items = Array.from({ length: count }, (_, index) => index);
  return new Map([['items', { bytes: new TextEncoder().encode(JSON.stringify(items)) }]]);
}
