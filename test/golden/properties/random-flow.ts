// Random flows that use the whole language. What validation refuses is drawn again: nearly all are accepted.

import { parseFlow } from '../../../flow/definition/definition.ts';
import type { Flow } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import type { Random } from './random.ts';

const maxDraws = 50;

/** Elements of the list that every run brings, as the field `items`. */
export const listLengths = [0, 1, 3, 5] as const;

export function randomFlow(random: Random): Flow {
  for (let draw = 0; draw < maxDraws; draw++) {
    const parsed = parseFlow(flowText(random));
    if (parsed.kind === 'flow') return parsed.flow;
  }
  throw new Error(`none of ${maxDraws} random flows is accepted`);
}

function flowText(random: Random): string {
  const count = 2 + random.below(9);
  const steps = Array.from({ length: count }, (_, index) => stepText(random, index, count));
  const fields = Array.from(
    { length: count },
    (_, index) => `f${index}: { type: string, default: d }, r${index}: json`,
  );
  return [
    'flow: random',
    'business: golden',
    'deadline: 1h',
    `fields: { mode: string, items: json, out: string, ${fields.join(', ')} }`,
    'steps:',
    ...steps.map((text, index) => `  s${index}: ${text}`),
    ...(random.chance(0.3)
      ? ['on_exit: [{ when: [SUCCEEDED, FAILED, CANCELLED], call: notifier, send: [mode] }]']
      : []),
  ].join('\n');
}

type Kind = (random: Random, index: number, count: number) => string;

const call: Kind = (random, index) => {
  const sent = random.some(earlier(index), 0.4).map((each) => `f${each}`);
  const tries = 1 + random.below(2);
  return `call: worker, send: [${['mode', ...sent].join(', ')}], receive: [f${index}], retry: { tries: ${tries}, first: 1s }, max_losses: 1`;
};

const branches: Kind = (random, index) => {
  const does = random.chance(0.5) ? 'call: worker, max_losses: 1' : 'sub_flow: child';
  const failures = random.pick(['0', '1', 'all']);
  return `for_each: items, as: item, ${does}, receive: [out], into: r${index}, concurrency: ${1 + random.below(3)}, max_failures: ${failures}`;
};

const choice: Kind = (random, index, count) => {
  const later = Array.from({ length: count - index - 1 }, (_, each) => `s${index + 1 + each}`);
  const cases = ['a', 'b'].map(
    (mode) => `{ when: "mode == '${mode}'", then: [${random.some(later, 0.3).join(', ')}] }`,
  );
  const otherwise = random.chance(0.5) ? `otherwise: [${random.some(later, 0.3).join(', ')}]` : 'no_match: pass';
  return `switch: [${cases.join(', ')}], ${otherwise}`;
};

const kinds: ReadonlyArray<readonly [weight: number, kind: Kind]> = [
  [6, call],
  [
    2,
    (random, index) =>
      `callback: worker, receive: [f${index}], answer_within: 5m, retry: { tries: ${1 + random.below(2)}, first: 1s }`,
  ],
  [2, choice],
  [1, (_, index) => `inline: { f${index}: "mode + '!'" }`],
  [1, (random) => `wait: { for: ${1 + random.below(90)}s }`],
  [2, (random) => `wait: { signal: go${random.below(2)}, timeout: 10m, on_timeout: ${random.pick(['pass', 'fail'])} }`],
  [3, (_, index) => `sub_flow: child, send: [mode], receive: [f${index}]`],
  [1, () => 'start_flow: other, send: [mode], max_generations: 3'],
  [3, branches],
];

function stepText(random: Random, index: number, count: number): string {
  const before = random.some(earlier(index), index > 3 ? 0.35 : 0.6).map((each) => `s${each}`);
  const after = before.length > 0 ? `after: [${before.join(', ')}], ` : '';
  const when = random.chance(0.1) ? `when: "mode != 'c'", ` : '';
  if (before.length >= 2 && random.chance(0.6)) {
    const need = 1 + random.below(before.length);
    const losers = need < before.length && random.chance(0.5) ? ', losers: cancel' : '';
    return `{ ${after}${when}join: { need: ${need}${losers} } }`;
  }
  return `{ ${after}${when}${kindOf(random)(random, index, count)} }`;
}

function kindOf(random: Random): Kind {
  let place = random.next() * kinds.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, kind] of kinds) {
    place -= weight;
    if (place < 0) return kind;
  }
  return call;
}

function earlier(index: number): number[] {
  return Array.from({ length: index }, (_, each) => each);
}
