// Steps that other steps name.

import { NoMatch } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { didYouMean } from '../../nearest-name.ts';
import { quoted, type Report } from '../problem.ts';
import { type FlowView, type RuleGroup, stepPath } from './view.ts';

export const references: RuleGroup = (view, report) => {
  for (const step of view.flow.steps) {
    const path = stepPath(step.id);
    checkSteps(view, report, `${path}.after`, step.after);
    if (step.kind.case !== 'switch') continue;
    const { cases, otherwise, noMatch } = step.kind.value;
    cases.forEach(({ then }, index) => checkSteps(view, report, `${path}.switch[${index}].then`, then));
    checkSteps(view, report, `${path}.otherwise`, otherwise);
    if (noMatch === NoMatch.UNSPECIFIED || (otherwise.length > 0 && noMatch !== NoMatch.OTHERWISE)) {
      report('references.no-match', path, 'a switch has either otherwise or no_match');
    }
  }
  for (const { path, send, receive } of view.exchanges) {
    checkOnce(report, `${path}.send`, send);
    checkOnce(report, `${path}.receive`, receive);
  }
  view.flow.onExit.forEach(({ when }, index) => checkOnce(report, `on_exit[${index}].when`, when.map(String)));
};

function checkSteps({ graph }: FlowView, report: Report, path: string, ids: readonly string[]): void {
  ids.forEach((id, index) => {
    if (graph.byId.has(id)) return;
    report(
      'references.step',
      `${path}[${index}]`,
      `no step is called ${quoted(id)}${didYouMean(id, graph.byId.keys())}`,
    );
  });
  checkOnce(report, path, ids);
}

function checkOnce(report: Report, path: string, all: readonly string[]): void {
  const first = new Map<string, number>();
  all.forEach((name, index) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else report('references.duplicate', `${path}[${index}]`, `stands here again; first as [${earlier}]`);
  });
}
