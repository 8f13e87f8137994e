// How a step looks, by its kind: the two ends of its shape, and what stands below its name. A new kind is an entry of the table.

import { Losers, NoMatch, type Step } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { printDuration } from '../definition/duration.ts';

type Kinds = Extract<Step['kind'], { case: string }>;
type KindOf<Case extends Kinds['case']> = Extract<Kinds, { case: Case }>['value'];

interface StepShape<Kind> {
  /** What Mermaid writes before and after the label. */
  readonly ends: readonly [string, string];
  readonly lines: (kind: Kind) => readonly string[];
}

const shapes: { readonly [Case in Kinds['case']]: StepShape<KindOf<Case>> } = {
  call: { ends: ['[', ']'], lines: ({ module }) => [module] },
  switch: {
    ends: ['{', '}'],
    // Ways that lead to no step of their own.
    lines: ({ cases, noMatch, otherwise }) => [
      ...cases.filter(({ then }) => then.length === 0).map(({ when }) => `if ${when}: go on`),
      ...(noMatch === NoMatch.PASS || (noMatch === NoMatch.OTHERWISE && otherwise.length === 0)
        ? ['otherwise: go on']
        : []),
      ...(noMatch === NoMatch.FAIL ? ['otherwise: fail'] : []),
    ],
  },
  inline: {
    ends: ['[/', '/]'],
    lines: ({ set }) => set.map(({ field, expression }) => `${field} = ${expression}`),
  },
  join: {
    ends: ['{{', '}}'],
    lines: ({ need, losers }) => [
      need === 0 ? 'all' : need === 1 ? 'one is enough' : `${need} are enough`,
      ...(losers === Losers.CANCEL ? ['cancel the others'] : []),
    ],
  },
  wait: { ends: ['([', '])'], lines: ({ what }) => [waitText(what)] },
  callback: {
    ends: ['>', ']'],
    lines: ({ call, answerWithinMs }) => [
      call?.module ?? '',
      `answered within ${printDuration(Number(answerWithinMs))}`,
    ],
  },
  subFlow: { ends: ['[[', ']]'], lines: ({ flow }) => [`flow ${flow}`] },
  startFlow: { ends: ['[\\', '\\]'], lines: ({ flow }) => [`starts flow ${flow}`] },
  forEach: {
    ends: ['[/', '\\]'],
    lines: ({ over, as, branch, concurrency }) => [
      `each ${as} of ${over}`,
      branch.case === 'subFlow' ? `flow ${branch.value.flow}` : (branch.value?.module ?? ''),
      `${concurrency} at a time`,
    ],
  },
};

/** The shape's two ends, and the lines below the step's name. */
export function stepShape(step: Step): { readonly ends: readonly [string, string]; readonly lines: readonly string[] } {
  const { kind } = step;
  if (kind.case === undefined) throw new Error(`step ${step.id} has no kind that this engine knows`);
  const shape = shapes[kind.case] as StepShape<Kinds['value']>;
  return { ends: shape.ends, lines: shape.lines(kind.value) };
}

function waitText(what: KindOf<'wait'>['what']): string {
  switch (what.case) {
    case 'forMs':
      return `wait ${printDuration(Number(what.value))}`;
    case 'until':
      return `wait until ${what.value}`;
    case 'signal': {
      const { name, timeoutMs } = what.value;
      return `wait for ${name}${timeoutMs === 0n ? '' : `, ${printDuration(Number(timeoutMs))} at most`}`;
    }
    case undefined:
      return 'wait';
  }
}
