// What things may be called. Names become parts of keys, so they are ASCII: two names that look alike are alike.

import type { Step } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { addressProblem, isAddress } from '../address.ts';
import { flowLimits } from '../limits.ts';
import { childPath, quoted, type Report } from '../problem.ts';
import type { RuleId } from '../rules.ts';
import { fieldPath, type PlacedCall, type RuleGroup, stepPath } from './view.ts';

export const flowForm = /^[a-z][a-z0-9_-]*$/;
export const plainForm = /^[a-z][a-z0-9_]*$/;
export const moduleForm = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;

/** Writers of field keys that are no steps. */
export const reservedIds: ReadonlySet<string> = new Set(['input', 'exit']);

/** Identifiers that CEL keeps for itself. */
export const expressionWords: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop null package namespace return true var void while'.split(
    ' ',
  ),
);

export const names: RuleGroup = (view, report) => {
  const { flow } = view;
  checkFlowName(report, 'flow', flow.name);
  checkFlowName(report, 'business', flow.business, 'a business line');
  for (const { name } of flow.fields) {
    checkFieldName(report, fieldPath(name), name);
    if (expressionWords.has(name)) {
      const message = `${quoted(name)} is a word of the expression language; expressions could not read the field`;
      report('names.expression-word', fieldPath(name), message);
    }
  }
  for (const step of flow.steps) {
    checkName(report, 'names.step', stepPath(step.id), step.id, plainForm, 'a step id');
    if (reservedIds.has(step.id)) {
      report('names.reserved', stepPath(step.id), `${quoted(step.id)} names a writer of fields that is no step`);
    }
    checkNamesIn(report, step);
  }
  for (const call of view.calls) checkModule(report, call);
  for (const { subFlow, path } of view.subFlows) checkFlowName(report, `${path}.sub_flow`, subFlow.flow);
  for (const { path, send, receive } of view.exchanges) {
    send.forEach((name, index) => checkFieldName(report, `${path}.send[${index}]`, name));
    receive.forEach((name, index) => checkFieldName(report, `${path}.receive[${index}]`, name));
  }
  const fieldNames = flow.fields.map(({ name }) => name);
  const stepIds = flow.steps.map(({ id }) => id);
  checkUnique(report, fieldNames, fieldPath, 'field');
  checkUnique(report, stepIds, stepPath, 'step');
};

/** Names that only one kind of step has. */
function checkNamesIn(report: Report, { id, kind }: Step): void {
  const path = stepPath(id);
  switch (kind.case) {
    case 'inline':
      for (const { field } of kind.value.set) checkFieldName(report, childPath(`${path}.inline`, field), field);
      return;
    case 'wait': {
      const { what } = kind.value;
      if (what.case !== 'signal') return;
      checkName(report, 'names.signal', `${path}.wait.signal`, what.value.name, plainForm, 'a signal');
      return;
    }
    case 'startFlow':
      checkFlowName(report, `${path}.start_flow`, kind.value.flow);
      return;
    case 'forEach':
      checkFieldName(report, `${path}.as`, kind.value.as);
      checkFieldName(report, `${path}.into`, kind.value.into);
      return;
    default:
  }
}

function checkModule(report: Report, { call, path, key, takesAddress }: PlacedCall): void {
  if (takesAddress && isAddress(call.module)) {
    const problem = addressProblem(call.module, flowLimits.maxUrlCharacters);
    if (problem !== undefined) report('names.url', `${path}.${key}`, problem);
    return;
  }
  const most = flowLimits.maxModuleCharacters;
  checkName(report, 'names.module', `${path}.${key}`, call.module, moduleForm, 'a module', most);
}

function checkFlowName(report: Report, path: string, name: string, what = 'a flow'): void {
  checkName(report, 'names.flow', path, name, flowForm, what);
}

function checkFieldName(report: Report, path: string, name: string): void {
  checkName(report, 'names.field', path, name, plainForm, 'a field');
}

function checkName(
  report: Report,
  rule: RuleId,
  path: string,
  name: string,
  form: RegExp,
  what: string,
  maxCharacters: number = flowLimits.maxNameCharacters,
): void {
  if (name.length <= maxCharacters && form.test(name)) return;
  const allowed = form.source.replaceAll(/[$^]|\?:/g, '');
  report(
    rule,
    path,
    `${what} cannot be called ${quoted(name)}; allowed is ${allowed}, up to ${maxCharacters} characters`,
  );
}

/** In a text, equal keys are refused before they come here; a flow from elsewhere may have them. */
function checkUnique(report: Report, all: readonly string[], pathOf: (name: string) => string, what: string): void {
  const seen = new Set<string>();
  for (const name of all) {
    if (seen.has(name)) report('names.unique', pathOf(name), `two ${what}s are called ${quoted(name)}`);
    seen.add(name);
  }
}
