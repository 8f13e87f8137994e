// What things may be called. Names become parts of keys, so they are ASCII: two names that look alike are alike.

import { flowLimits } from '../limits.ts';
import { childPath, quoted, type Report } from '../problem.ts';
import type { RuleId } from '../rules.ts';
import { fieldPath, type RuleGroup, stepPath } from './view.ts';

const flowForm = /^[a-z][a-z0-9_-]*$/;
const plainForm = /^[a-z][a-z0-9_]*$/;
const moduleForm = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;

/** Writers of field keys that are no steps. */
const reservedIds: ReadonlySet<string> = new Set(['input', 'exit']);

/** Identifiers that CEL keeps for itself. */
const expressionWords: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop null package namespace return true var void while'.split(
    ' ',
  ),
);

export const names: RuleGroup = ({ flow, calls }, report) => {
  checkFlowName(report, 'flow', flow.name);
  checkFlowName(report, 'business', flow.business);
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
    if (step.kind.case === 'inline') {
      const path = `${stepPath(step.id)}.inline`;
      for (const { field } of step.kind.value.set) checkFieldName(report, childPath(path, field), field);
    }
  }
  for (const { call, path } of calls) {
    const most = flowLimits.maxModuleCharacters;
    checkName(report, 'names.module', `${path}.call`, call.module, moduleForm, 'a module', most);
    call.send.forEach((name, index) => checkFieldName(report, `${path}.send[${index}]`, name));
    call.receive.forEach((name, index) => checkFieldName(report, `${path}.receive[${index}]`, name));
  }
  checkUnique(
    report,
    flow.fields.map(({ name }) => name),
    fieldPath,
    'field',
  );
  checkUnique(
    report,
    flow.steps.map(({ id }) => id),
    stepPath,
    'step',
  );
};

function checkFlowName(report: Report, key: 'flow' | 'business', name: string): void {
  checkName(report, 'names.flow', key, name, flowForm, key === 'flow' ? 'a flow' : 'a business line');
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
