// Whether a table of routes makes sense: names, fields, expressions, sizes, and the flows it leads to.

import { toBinary } from '@bufbuild/protobuf';
import { FieldType } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { type RouteTable, RouteTableSchema } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { flowLimits } from '../definition/limits.ts';
import { childPath, quoted } from '../definition/problem.ts';
import { expressionWords } from '../definition/validation/names.ts';
import { compileExpression } from '../expression.ts';
import { decodeText, fieldTypeNames } from '../field-type.ts';
import { didYouMean } from '../nearest-name.ts';
import { routingLimits } from './limits.ts';
import { refuseWord } from './read-table.ts';
import type { RouteRuleId } from './rules.ts';
import { itemVariables, typesOf } from './variables.ts';

export type RouteReport = (rule: RouteRuleId, path: string, message: string) => void;

/** The flows that there are, with their business lines. */
export type KnownFlows = ReadonlyMap<string, string>;

/** `flows` absent: whether the flows exist is not checked. */
export function validateTable(report: RouteReport, table: RouteTable, flows?: KnownFlows): void {
  checkSizes(report, table);
  const isNamed = checkFlowName(report, 'business', table.business, 'a business line');
  const business = isNamed ? table.business : undefined;
  checkFields(report, table);
  const types = typesOf(table);
  table.rules.forEach(({ when, flow }, index) => {
    const path = `rules[${index}]`;
    const compiled = compileExpression(when, types, FieldType.BOOL);
    if (compiled.kind === 'invalid') report('expressions.valid', `${path}.when`, compiled.message);
    checkFlow(report, `${path}.flow`, flow, business, flows);
  });
  if (table.otherwise !== '') checkFlow(report, 'otherwise', table.otherwise, business, flows);
}

function checkSizes(report: RouteReport, table: RouteTable): void {
  const atMost = (rule: RouteRuleId, path: string, found: number, most: number, what: string): void => {
    if (found > most) report(rule, path, `found ${found} ${what}; at most ${most} are allowed`);
  };
  atMost('limits.rules', 'rules', table.rules.length, routingLimits.maxRules, 'rules');
  atMost('limits.fields', 'fields', table.fields.length, flowLimits.maxFields, 'fields');
  const { maxDescriptionCharacters, maxFlowBytes } = flowLimits;
  atMost('limits.description', 'description', table.description.length, maxDescriptionCharacters, 'characters');
  atMost('limits.table-size', '', toBinary(RouteTableSchema, table).length, maxFlowBytes, 'bytes in the stored form');
}

function checkFields(report: RouteReport, { fields }: RouteTable): void {
  for (const { name, type, default: text } of fields) {
    const path = childPath('fields', name);
    checkName(report, 'names.field', path, name, fieldForm, 'a field');
    if (itemVariables.has(name)) {
      report('names.item', path, `${quoted(name)} is of the item itself: rules read it without a declaration`);
    } else if (expressionWords.has(name)) {
      const message = `${quoted(name)} is a word of the expression language; expressions could not read the field`;
      report('names.expression-word', path, message);
    }
    if (type === FieldType.UNSPECIFIED) {
      report('shape.word', path, `a field needs a type; allowed are ${[...fieldTypeNames.keys()].join(', ')}`);
    } else if (text !== undefined && type !== FieldType.BYTES) {
      const decoded = decodeText(type, text);
      if (decoded.kind === 'error') report('fields.default', `${path}.default`, `${quoted(text)} ${decoded.message}`);
    }
  }
}

function checkFlow(
  report: RouteReport,
  path: string,
  flow: string,
  business: string | undefined,
  flows: KnownFlows | undefined,
): void {
  if (!checkFlowName(report, path, flow, 'a flow') || !flows) return;
  const owner = flows.get(flow);
  if (owner === undefined) {
    const hint = flow === refuseWord ? '; to refuse what no rule takes, write it in otherwise' : '';
    report('flows.known', path, `there is no flow ${quoted(flow)}${didYouMean(flow, flows.keys()) || hint}`);
  } else if (business !== undefined && owner !== business) {
    report('flows.business', path, `flow ${flow} belongs to business ${owner}, found ${quoted(business)}`);
  }
}

const flowForm = /^[a-z][a-z0-9_-]*$/;
const fieldForm = /^[a-z][a-z0-9_]*$/;

function checkFlowName(report: RouteReport, path: string, name: string, what: string): boolean {
  return checkName(report, 'names.flow', path, name, flowForm, what);
}

function checkName(
  report: RouteReport,
  rule: RouteRuleId,
  path: string,
  name: string,
  form: RegExp,
  what: string,
): boolean {
  if (name.length <= flowLimits.maxNameCharacters && form.test(name)) return true;
  const allowed = `${form.source.replaceAll(/[$^]/g, '')}, up to ${flowLimits.maxNameCharacters} characters`;
  report(rule, path, `${what} cannot be called ${quoted(name)}; allowed is ${allowed}`);
  return false;
}
