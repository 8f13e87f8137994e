// Flows made up from a seed, of the whole language: sequences, branches that join, switches, lists, children, waits, conditions,
// retries, calls on exit. They go through the real parser and compiler.

import { compileFlow } from '../../../flow/compile.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import type { Plan } from '../../../flow/plan.ts';
import type { Random } from '../world/random.ts';
import { call, callKeys, type Draft, type FlowMaking, newId } from './draft.ts';
import { joined } from './joined.ts';
import { single } from './single-steps.ts';

/** Steps between one at which they begin and those with which they end. */
interface Branch {
  readonly head: string;
  readonly tails: readonly string[];
}

/** How deep switches choose switches. */
const maxNesting = 2;

/** Makes the plan of one version of a flow. */
export function madeUpPlan(random: Random, making: FlowMaking): Plan {
  const text = JSON.stringify(madeUpFlow(random, making));
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') {
    const [first] = parsed.problems;
    throw new Error(`the generator made an invalid flow: ${first?.path}: ${first?.message}\n${text}`);
  }
  return compileFlow(parsed.flow, making.version);
}

function madeUpFlow(random: Random, making: FlowMaking): unknown {
  const fields = { size: { type: 'int', default: 1 }, list: { type: 'json', default: [1, 'two'] } };
  const draft: Draft = {
    random,
    making,
    fields,
    steps: {},
    numbers: ['size'],
    received: new Set(),
    signals: new Set(),
  };
  let last: readonly string[] = [];
  const blocks = random.between(1, making.leaves.length > 0 ? 2 : 3);
  const kinds = [sequence, parallel, choice, computation, ...(making.isPlain ? [] : [joined, joined])];
  for (let block = 0; block < blocks; block++) last = random.pick(kinds)(draft, last);
  if (!Object.values(draft.steps).some((step) => 'call' in step)) call(draft, last);
  if (making.leaves.length > 0) leave(draft, last);
  const exits = random.chance(0.3) ? Array.from({ length: random.between(1, 2) }, () => exitCall(draft)) : [];
  return {
    flow: making.name,
    business: making.business,
    // Most outlast the simulated time, so that a run which doesn't move can't hide behind its deadline.
    deadline: random.chance(0.15) ? `${random.between(20, 90)}s` : '2h',
    fields: draft.fields,
    steps: draft.steps,
    on_exit: exits,
  };
}

/** What a parent may receive. */
function leave(draft: Draft, after: readonly string[]): void {
  const { random, making, fields, steps, numbers } = draft;
  const id = newId(draft);
  const inline = Object.fromEntries(
    making.leaves.map((name, index) => [name, `${random.pick(numbers)} + ${random.pick(numbers)} + ${index}`]),
  );
  for (const name of making.leaves) fields[name] = { type: 'int' };
  steps[id] = { after, inline };
}

function exitCall(draft: Draft): unknown {
  const when = draft.random.pick([
    ['FAILED', 'CANCELLED', 'SUCCEEDED'],
    ['CANCELLED', 'SUCCEEDED'],
    ['FAILED'],
    ['SUCCEEDED'],
    ['CANCELLED', 'FAILED'],
  ]);
  return { when, ...callKeys(draft, 'exit') };
}

function sequence(draft: Draft, after: readonly string[]): readonly string[] {
  let last = after;
  const length = draft.random.between(1, 3);
  for (let index = 0; index < length; index++) last = [single(draft, last)];
  return last;
}

function parallel(draft: Draft, after: readonly string[]): readonly string[] {
  const width = draft.random.between(2, 3);
  const branches = Array.from({ length: width }, () => single(draft, after));
  return draft.random.chance(0.7) ? [call(draft, branches)] : branches;
}

function choice(draft: Draft, after: readonly string[]): readonly string[] {
  const { tails } = switchOver(draft, after, maxNesting);
  return draft.random.chance(0.8) ? [call(draft, tails)] : tails;
}

/** A switch between two branches, each of which may be another switch. */
function switchOver(draft: Draft, after: readonly string[], nesting: number): Branch {
  const { random, steps, numbers } = draft;
  const id = newId(draft);
  const read = random.pick(numbers);
  const [one, other] = [branch(draft, nesting - 1), branch(draft, nesting - 1)];
  const emptyCase = random.chance(0.2) ? [choiceOf([], `${read} == 5`)] : [];
  steps[id] = {
    ...(after.length > 0 && { after }),
    switch: [...emptyCase, choiceOf([one.head], `${read} % 3 == 0`), choiceOf([other.head], `${read} % 3 == 1`)],
    ...(random.chance(0.6)
      ? { otherwise: random.pick([[one.head], [other.head], [one.head, other.head]]) }
      : { no_match: random.pick(['pass', 'pass', 'fail']) }),
  };
  return { head: id, tails: [...one.tails, ...other.tails] };
}

function branch(draft: Draft, nesting: number): Branch {
  const { random } = draft;
  if (nesting > 0 && random.chance(0.3)) return switchOver(draft, [], nesting);
  const [head = ''] = random.chance(0.2) ? computation(draft, []) : [single(draft, [])];
  return { head, tails: random.chance(0.3) ? [single(draft, [head])] : [head] };
}

function choiceOf(steps: readonly string[], when: string): unknown {
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
  return { when, then: steps };
}

function computation(draft: Draft, after: readonly string[]): readonly string[] {
  const { random, steps, numbers, fields } = draft;
  const id = newId(draft);
  const [left, right] = [random.pick(numbers), random.pick(numbers)];
  const field = `${id}_sum`;
  fields[field] = { type: 'int', default: 0 };
  steps[id] = {
    ...(after.length > 0 && { after }),
    ...(random.chance(0.15) && { when: `${random.pick(numbers)} % 4 != 1` }),
    inline: { [field]: `${left} + ${right}` },
  };
  numbers.push(field);
  return [id];
}
