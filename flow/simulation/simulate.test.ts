// Scripts, and what follows from them. What the core decides is shown by golden traces; here it is who answers what, and when.

import { describe, expect, it } from 'vitest';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { compileFlow } from '../compile.ts';
import { parseFlow } from '../definition/definition.ts';
import { readScript } from './script.ts';
import { type Simulation, simulate } from './simulate.ts';
import { describeMoment } from './trace.ts';

function planOf(...steps: string[]) {
  const parsed = parseFlow(['flow: f', 'business: b', 'steps:', ...steps.map((step) => `  ${step}`)].join('\n'));
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return compileFlow(parsed.flow, 1);
}

const one = planOf('a: { call: m, send: [text], receive: [x], timeout: 2s, retry: { tries: 2, first: 1s, max: 1s } }');
const two = planOf('a: { call: m }', 'b: { call: n }', 'c: { after: [a, b], call: o }');

function run(plan: ReturnType<typeof planOf>, script: string): Simulation {
  const reading = readScript(script, plan);
  if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems));
  return simulate(plan, reading.script);
}

const heads = ({ moments }: Simulation) => moments.map((moment) => describeMoment(moment)[0]);

describe('a simulation', () => {
  it('gives replies in their order, and waits as the engine would', () => {
    const simulation = run(
      one,
      'inputs: { text: hello }\nsteps: { a: [{ answer: FAIL_BACK_SVR, message: down, after: 20ms }, { answer: SUCC, fields: { x: 1 } }] }',
    );
    expect(simulation.moments.flatMap(describeMoment)).toEqual([
      '+0s submit text="hello"',
      '  run: new → OPEN',
      '  a: – → RUNNING',
      '  field input/text = "hello"',
      '  ! call m for a, key 1/b/f/item/a/1, attempt 1: text="hello"',
      '+0.02s a answers FAIL_BACK_SVR "down"',
      '  a: RUNNING → SLEEPING (1 attempts spent, until +0.52s)',
      '  record a FAILED',
      '  = sleeping until +0.52s',
      '+0.52s',
      '  a: SLEEPING (1 attempts spent, until +0.52s) → RUNNING (1 attempts spent)',
      '  ! call m for a, key 1/b/f/item/a/1, attempt 2: text="hello"',
      '+0.52s a answers SUCC x="1"',
      '  run: OPEN → SUCCEEDED #1',
      '  a: RUNNING (1 attempts spent) → DONE (1 attempts spent)',
      '  field a/x = "1"',
      '  record a SUCCEEDED',
      '  = ended',
    ]);
    expect(simulation.status.state).toBe(State.SUCCEEDED);
    expect(simulation.warnings).toEqual([]);
  });

  it('answers in the order of time, not of calls', () => {
    const script = 'steps: { a: { answer: SUCC, after: 2s }, b: { answer: SUCC, after: 1s }, c: SUCC }';
    expect(heads(run(two, script))).toEqual([
      '+0s submit',
      '+1s b answers SUCC',
      '+2s a answers SUCC',
      '+2s c answers SUCC',
    ]);
  });

  it('lets an answer that comes too late be none', () => {
    const script = 'inputs: { text: t }\nsteps: { a: [{ answer: SUCC, after: 3s }, TIMED_OUT] }';
    expect(heads(run(one, script))).toEqual([
      '+0s submit text="t"',
      '+2s the call of a ends: TIMED_OUT "no answer within the time of the call"',
      '+2.5s',
      '+4.5s the call of a ends: TIMED_OUT',
    ]);
  });

  it('uses otherwise where a step has no reply left', () => {
    const simulation = run(two, 'steps: { a: [SVR_OVER_LOAD] }\notherwise: SUCC');
    expect(simulation.status.state).toBe(State.SUCCEEDED);
    expect(heads(simulation).filter((head) => head?.includes('later'))).toEqual([]);
    const later = heads(run(planOf('a: { callback: m }'), 'otherwise: { answer: SUCC, after: 1s }'));
    expect(later).toEqual(['+0s submit', '+1s a answers SUCC', '+2s a is answered later: SUCC']);
  });

  it('takes back the replies to calls that are aborted', () => {
    const simulation = run(two, 'steps: { a: FATAL_ERROR, b: { answer: SUCC, after: 1m } }');
    expect(heads(simulation)).toEqual(['+0s submit', '+0s a answers FATAL_ERROR']);
    expect(simulation.status).toMatchObject({ state: State.FAILED, detail: expect.stringContaining('step a') });
  });

  it('lets people and accidents happen', () => {
    const script = [
      'steps: { a: [{ answer: SUCC, after: 1m }, { answer: FATAL_ERROR, after: 1m }, SUCC] }',
      'otherwise: SUCC',
      'events:',
      '  - { at: 10s, level: 2 }',
      '  - { at: 20s, reclaim: true }',
      '  - { at: 2m, retry: 1 }',
    ].join('\n');
    const simulation = run(planOf('a: { call: m, timeout: 2m }'), script);
    expect(heads(simulation)).toEqual([
      '+0s submit',
      '+10s level 2',
      '+20s its holder dies, another one claims the run',
      '+80s a answers FATAL_ERROR',
      '+120s retry of outcome 1',
      '+120s a answers SUCC',
    ]);
    expect(simulation.status).toMatchObject({ state: State.SUCCEEDED, outcomeNumber: 2 });
  });

  it('stops at a call that nobody answers, and says where an answer is missing', () => {
    const { fault, status } = run(two, 'inputs: {}\nsteps:\n  a: SUCC\n  b: SUCC');
    expect(fault).toEqual({
      path: 'steps.c',
      message: 'call 1 of step c has no answer: add one to steps.c, or give an otherwise',
      ...{ line: 3, column: 3 },
    });
    expect(status.state).toBe(State.OPEN);
  });

  it('tells replies that nobody asked for', () => {
    expect(run(two, 'steps:\n  a: [FATAL_ERROR, SUCC]\notherwise: SUCC').warnings).toEqual([
      { path: 'steps.a', message: 'SUCC was not asked for', line: 2, column: 20 },
    ]);
  });

  it('ends a module that declines for ever with the deadline', () => {
    const simulation = run(planOf('a: { call: m }'), 'otherwise: SVR_OVER_LOAD');
    expect(simulation.fault).toBeUndefined();
    expect(simulation.moments.at(-1)?.atMs).toBe(86_400_000);
  });
});

describe('a simulation of steps that wait', () => {
  it('answers a callback later, by its token', () => {
    const plan = planOf('a: { callback: m, receive: [x], answer_within: 1h, retry: { tries: 2, first: 1s, max: 1s } }');
    const simulation = run(
      plan,
      'steps: { a: [SUCC, { answer: SUCC, later: { answer: SUCC, fields: { x: 1 }, after: 5m } }] }',
    );
    expect(heads(simulation)).toEqual([
      '+0s submit',
      '+0s a answers SUCC',
      '+3600s',
      '+3600.5s',
      '+3600.5s a answers SUCC',
      '+3900.5s a is answered later: SUCC x="1"',
    ]);
    expect(simulation).toMatchObject({ status: { state: State.SUCCEEDED }, sinceMs: 3_900_500 });
  });

  it('ends sub-flows, once for each time they are asked to go on, and never those that nobody waits for', () => {
    const plan = planOf('a: { sub_flow: g, receive: [x] }', 'b: { start_flow: h }');
    const script = [
      'steps: { a: [{ ended: FAILED, message: no, after: 1s }, { ended: SUCCEEDED, fields: { x: 1 }, after: 2s }] }',
      'events: [{ at: 0s, reclaim: true }, { at: 1m, retry: 1 }]',
    ].join('\n');
    expect(heads(run(plan, script))).toEqual([
      '+0s submit',
      '+0s its holder dies, another one claims the run',
      '+0s a sees its child: open',
      '+0s b sees its child: open',
      '+1s the sub-flow of a ends FAILED "no"',
      '+60s retry of outcome 1',
      '+60s a sees its child: retried',
      '+62s the sub-flow of a ends SUCCEEDED x="1"',
    ]);
  });

  it('hears nothing more of a sub-flow that is cancelled, until it is asked to go on', () => {
    const script = [
      'steps: { a: [{ ended: SUCCEEDED, after: 1h }, { ended: SUCCEEDED, after: 1m }] }',
      'events: [{ at: 1s, cancel: enough }, { at: 2h, retry: 1 }]',
    ].join('\n');
    const simulation = run(planOf('a: { sub_flow: g }'), script);
    expect(heads(simulation).filter((head) => !head?.endsWith('told'))).toEqual([
      '+0s submit',
      '+0s a sees its child: open',
      '+1s cancel: enough',
      '+7200s retry of outcome 1',
      '+7200s a sees its child: retried',
      '+7260s the sub-flow of a ends SUCCEEDED',
    ]);
  });

  it('answers branches in the order in which they are called, or each by its own entry', () => {
    const text = 'fields: { list: json, all: json }\nflow: f\nbusiness: b\n';
    const parsed = parseFlow(
      `${text}steps: { a: { for_each: list, as: x, call: m, receive: [y], into: all, max_failures: all } }`,
    );
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    const script = [
      'inputs: { list: [1, 2, 3] }',
      'steps:',
      '  a: { answer: SUCC, fields: { y: first }, after: 2s }',
      '  a[1]: { answer: SUCC, fields: { y: second }, after: 1s }',
      'otherwise: FATAL_ERROR',
    ].join('\n');
    const simulation = run(compileFlow(parsed.flow, 1), script);
    expect(heads(simulation)).toEqual([
      '+0s submit list="[1,2,3]"',
      '+0s a[2] answers FATAL_ERROR',
      '+1s a[1] answers SUCC y="second"',
      '+2s a[0] answers SUCC y="first"',
    ]);
  });

  it('brings signals', () => {
    const plan = planOf(
      'a: { wait: { signal: go, receive: [x], timeout: 1h } }',
      'b: { after: [a], wait: { for: 10m } }',
    );
    const simulation = run(plan, 'events: [{ at: 30m, signal: go, fields: { x: 1 } }]');
    expect(heads(simulation)).toEqual(['+0s submit', '+1800s signal go x="1"', '+2400s']);
  });

  it('needs an end for a sub-flow, whatever modules answer', () => {
    const { fault } = run(planOf('a: { sub_flow: g }'), 'otherwise: SUCC');
    expect(fault?.message).toBe('run 1 of the sub-flow of a has no end: add one to steps.a, such as SUCCEEDED');
  });
});

describe('a script is refused', () => {
  it.each<[string, string]>([
    ['', '1:1 : the text is empty; a script is needed'],
    ['[]', '1:1 : a script is a map, found a list'],
    ['input: {}', `1:1 input: a script has no key "input"; did you mean 'inputs'?`],
    ['inputs: { text: }', '1:11 inputs.text: a value is needed, found nothing'],
    ['level: 10', '1:1 level: found 10; levels are 1 to 9'],
    ['steps: { aa: SUCC }', `1:10 steps.aa: no step is called "aa"`],
    ['steps: { s: SUCC }', '1:10 steps.s: s is a switch: nobody is called, so nothing is answered'],
    ['steps: { a: SUC }', `1:10 steps.a: an answer cannot be "SUC"; did you mean 'SUCC'?`],
    ['steps: { a: { after: 1s } }', "1:10 steps.a: a reply needs the key 'answer'"],
    [
      'steps: { a: { answer: SUCC, later: SUCC } }',
      `1:29 steps.a.later: a reply has no key "later"; did you mean 'after'?`,
    ],
    ['events: [{ cancel: x }]', "1:10 events[0]: an event needs the key 'at'"],
    [
      'events: [{ at: 1s }]',
      '1:10 events[0]: an event has exactly one of the keys cancel, level, retry, rewind, release, signal, reclaim, found none',
    ],
    ['events: [{ at: 1s, retry: 1, fields: { x: 1 } }]', '1:30 events[0].fields: retry has no fields'],
    ['events: [{ at: 1s, release: false }]', '1:20 events[0].release: true is needed'],
  ])('%s', (text, message) => {
    const plan = planOf('a: { call: m }', "s: { switch: [{ when: 'true', then: [] }] }");
    const reading = readScript(text, plan);
    const problems = reading.kind === 'problems' ? reading.problems : [];
    expect(problems.map((each) => `${each.line}:${each.column} ${each.path}: ${each.message}`)).toEqual([message]);
  });
});
