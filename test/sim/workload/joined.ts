// Branches that a join brings together, all of them or some.

import { type Draft, newId } from './draft.ts';
import { single } from './single-steps.ts';

/** How deep joins stand in branches of joins. */
const maxNesting = 1;

export function joined(draft: Draft, after: readonly string[]): readonly string[] {
  return [join(draft, after, maxNesting)];
}

function join(draft: Draft, after: readonly string[], nesting: number): string {
  const { random, steps } = draft;
  const width = random.between(2, 4);
  const tails = Array.from({ length: width }, () => branch(draft, after, nesting));
  const need = random.pick(['all', 'any', ...Array.from({ length: width }, (_, index) => index + 1)]);
  const cancels = need !== 'all' && need !== width && random.chance(0.6);
  const id = newId(draft);
  steps[id] = { after: tails, join: { need, ...(cancels && { losers: 'cancel' }) } };
  return id;
}

/** One step, two, or a join inside; answers the last. */
function branch(draft: Draft, after: readonly string[], nesting: number): string {
  const { random } = draft;
  if (nesting > 0 && random.chance(0.15)) return join(draft, after, nesting - 1);
  const head = single(draft, after);
  return random.chance(0.3) ? single(draft, [head]) : head;
}
