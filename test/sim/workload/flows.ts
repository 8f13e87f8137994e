// Flows made up from a seed: sequences, branches that join, switches, inline steps, conditions, retries, calls on exit. They go
// through the real parser and compiler.

import { compileFlow } from '../../../flow/compile.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import type { Plan } from '../../../flow/plan.ts';
import type { Random } from '../world/random.ts';

export const business = 'shop';

interface Draft {
  readonly random: Random;
  readonly fields: Record<string, unknown>;
  readonly steps: Record<string, Record<string, unknown>>;
  /** Fields with numbers that steps so far write. */
  readonly numbers: string[];
}

/** Makes the plan of one flow, as its first version. */
export function madeUpPlan(random: Random, name: string): Plan {
  const text = JSON.stringify(madeUpFlow(random, name));
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') {
    const [first] = parsed.problems;
    throw new Error(`the generator made an invalid flow: ${first?.path}: ${first?.message}\n${text}`);
  }
  return compileFlow(parsed.flow, 1);
}

function madeUpFlow(random: Random, name: string): unknown {
  const draft: Draft = { random, fields: { size: { type: 'int', default: 1 } }, steps: {}, numbers: ['size'] };
  let last: string[] = [];
  const blocks = random.between(1, 3);
  for (let block = 0; block < blocks; block++)
    last = random.pick([sequence, parallel, choice, computation])(draft, last);
  const exits = random.chance(0.3)
    ? [{ when: ['FAILED', 'CANCELLED', 'SUCCEEDED'].slice(random.between(0, 2)), ...callKeys(draft, 'exit') }]
    : [];
  return {
    flow: name,
    business,
    // Most outlast the simulated time, so that a run which doesn't move can't hide behind its deadline.
    deadline: random.chance(0.15) ? `${random.between(20, 90)}s` : '2h',
    fields: draft.fields,
    steps: draft.steps,
    on_exit: exits,
  };
}

function sequence(draft: Draft, after: string[]): string[] {
  let last = after;
  const length = draft.random.between(1, 3);
  for (let index = 0; index < length; index++) last = [call(draft, last)];
  return last;
}

function parallel(draft: Draft, after: string[]): string[] {
  const width = draft.random.between(2, 3);
  const branches = Array.from({ length: width }, () => call(draft, after));
  return draft.random.chance(0.7) ? [call(draft, branches)] : branches;
}

function choice(draft: Draft, after: string[]): string[] {
  const { random, steps, numbers } = draft;
  const id = newId(draft);
  const read = random.pick(numbers);
  // Steps stand in the text in the order of their making; the switch comes before those it chooses.
  steps[id] = {};
  const [one, other] = [call(draft, []), call(draft, [])];
  steps[id] = {
    ...(after.length > 0 && { after }),
    switch: [choiceOf(one, `${read} % 3 == 0`), choiceOf(other, `${read} % 3 == 1`)],
    ...(random.chance(0.7) ? { otherwise: [one] } : { no_match: random.pick(['pass', 'fail']) }),
  };
  return [call(draft, [one, other])];
}

function choiceOf(step: string, when: string): unknown {
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
  return { when, then: [step] };
}

function computation(draft: Draft, after: string[]): string[] {
  const { random, steps, numbers, fields } = draft;
  const id = newId(draft);
  const [left, right] = [random.pick(numbers), random.pick(numbers)];
  const field = `${id}_sum`;
  fields[field] = { type: 'int', default: 0 };
  steps[id] = { ...(after.length > 0 && { after }), inline: { [field]: `${left} + ${right}` } };
  numbers.push(field);
  return [id];
}

function call(draft: Draft, after: string[]): string {
  const { random, steps, numbers, fields } = draft;
  const id = newId(draft);
  const number = `${id}_number`;
  fields[number] = { type: 'int', default: 0 };
  steps[id] = {
    ...(after.length > 0 && { after }),
    ...(random.chance(0.15) && { when: `${random.pick(numbers)} % 4 != 0` }),
    ...callKeys(draft, id),
    receive: [number, `${id}_mark`],
  };
  numbers.push(number);
  return id;
}

function callKeys({ random, numbers }: Draft, id: string): Record<string, unknown> {
  return {
    call: `modules.${id}`,
    send: [random.pick(numbers)],
    timeout: random.pick(['500ms', '2s', '20s']),
    retry: { tries: random.between(1, 4), first: '100ms', max: random.pick(['500ms', '5s']) },
    max_losses: random.pick([1, 1, 2, 5]),
  };
}

function newId({ steps }: Draft): string {
  return `step${Object.keys(steps).length + 1}`;
}
