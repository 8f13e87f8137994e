// A flow as a Mermaid flowchart. Shapes tell kinds apart (step-shape.ts); a dotted line leads to a step that may be skipped by its
// own `when`, or to a call that is made on exit.

import { ExitState, type Flow, type Step } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowGraph } from '../graph.ts';
import { label } from './label.ts';
import { stepShape } from './step-shape.ts';

/** From top to bottom, bottom to top, left to right, right to left. */
export type Direction = 'TB' | 'BT' | 'LR' | 'RL';

/** Draws a valid flow. Ends with a line break. */
export function drawMermaid(flow: Flow, direction: Direction = 'TB'): string {
  const lines = [...flow.steps.map(drawStep), ...flow.steps.flatMap(drawEdges(flow)), ...drawExit(flow)];
  return `flowchart ${direction}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Ids are prefixed, since some, such as `end`, are words of Mermaid. */
function nodeOf(id: string): string {
  return `s_${id}`;
}

function drawStep(step: Step): string {
  const { ends, lines } = stepShape(step);
  const when = step.when === '' ? [] : [`when ${step.when}`];
  return `${nodeOf(step.id)}${ends[0]}${label([step.id, ...lines, ...when])}${ends[1]}`;
}

function drawEdges(flow: Flow): (step: Step) => string[] {
  const byId = new Map(flow.steps.map((step) => [step.id, step]));
  const arrowTo = (id: string): string => ((byId.get(id)?.when ?? '') === '' ? '-->' : '-.->');
  return (step) => {
    const from = nodeOf(step.id);
    const after = step.after.map((earlier) => `${nodeOf(earlier)} ${arrowTo(step.id)} ${nodeOf(step.id)}`);
    if (step.kind.case !== 'switch') return after;
    const { cases, otherwise } = step.kind.value;
    const chosen = [
      ...cases.flatMap(({ when, then }) => then.map((id) => ({ id, text: `if ${when}` }))),
      ...otherwise.map((id) => ({ id, text: 'otherwise' })),
    ];
    return [...after, ...chosen.map(({ id, text }) => `${from} ${arrowTo(id)}|${label([text])}| ${nodeOf(id)}`)];
  };
}

/** The end is drawn only where something happens at it. */
function drawExit(flow: Flow): string[] {
  if (flow.onExit.length === 0) return [];
  const { successors } = flowGraph(flow);
  const last = flow.steps.filter(({ id }) => (successors.get(id) ?? []).length === 0);
  return [
    `ended((${label(['end'])}))`,
    ...last.map(({ id }) => `${nodeOf(id)} --> ended`),
    ...flow.onExit.flatMap(({ call, when }, index) => [
      `exit_${index}[${label([call?.module ?? ''])}]`,
      `ended -.->|${label([when.map((state) => ExitState[state]).join(', ')])}| exit_${index}`,
    ]),
  ];
}
