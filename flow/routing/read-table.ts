// From the tree of a text to the message `weir.flow.v1.RouteTable`: shapes and words. Whether the table makes sense is
// validate-table.ts's question.

import { create } from '@bufbuild/protobuf';
import {
  type RouteRule,
  RouteRuleSchema,
  type RouteTable,
  RouteTableSchema,
} from '../../proto/gen/weir/flow/v1/routes_pb.js';
import type { Report } from '../definition/problem.ts';
import { readFields } from '../definition/read-flow.ts';
import { type Located, readItems, readMembers, readText } from '../definition/reader.ts';
import type { SourceNode } from '../definition/source.ts';

const tableKeys = ['business', 'description', 'fields', 'rules', 'otherwise'] as const;
const ruleKeys = ['when', 'flow'] as const;

/** In `otherwise`: the item is refused. No flow can be meant by it. */
export const refuseWord = 'refuse';

/** Reads as much of a table as is there. What is reported is absent in the result. */
export function readTable(report: Report, root: SourceNode): RouteTable {
  for (const key of ['business', 'rules', 'otherwise']) {
    if (root.kind === 'map' && !root.entries.has(key)) {
      report('shape.required', key, `a table of routes needs the key '${key}'`);
    }
  }
  const members = readMembers(report, { node: root, path: '' }, tableKeys, 'a table of routes');
  const text = (key: 'business' | 'description' | 'otherwise'): string => {
    const located = members[key];
    return (located && readText(report, located, key)) ?? '';
  };
  const otherwise = text('otherwise');
  // Empty is how the message says that items are refused; an author says it in a word.
  if (members.otherwise && isEmptyText(members.otherwise)) {
    report('shape.value', 'otherwise', `otherwise is a flow or the word ${refuseWord}, found ""`);
  }
  return create(RouteTableSchema, {
    business: text('business'),
    description: text('description'),
    fields: readFields(report, members.fields),
    rules: readItems(report, members.rules, 'rules').map((item) => readRule(report, item)),
    otherwise: otherwise === refuseWord ? '' : otherwise,
  });
}

function isEmptyText({ node }: Located): boolean {
  return node.kind === 'scalar' && node.value === '';
}

function readRule(report: Report, located: Located): RouteRule {
  const members = readMembers(report, located, ruleKeys, 'a rule');
  const text = (key: 'when' | 'flow'): string => {
    const member = members[key];
    if (!member && located.node.kind === 'map') report('shape.required', located.path, `a rule needs the key '${key}'`);
    return (member && readText(report, member, key)) ?? '';
  };
  return create(RouteRuleSchema, { when: text('when'), flow: text('flow') });
}
