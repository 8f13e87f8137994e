// Steps of a text: one function for each kind.

import { create } from '@bufbuild/protobuf';
import {
  type Call,
  CallSchema,
  type Inline,
  InlineSchema,
  NoMatch,
  type Step,
  StepSchema,
  type Switch,
  SwitchSchema,
} from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowDefaults } from './limits.ts';
import { childPath, type Report } from './problem.ts';
import {
  type Located,
  type Members,
  readCount,
  readDuration,
  readItems,
  readMap,
  readMembers,
  readNames,
  readText,
  readWord,
} from './reader.ts';

const stepNames = { call: 'a call step', switch: 'a switch step', inline: 'an inline step' } as const;
const commonKeys = ['after', 'when'] as const;
export const callKeys = ['call', 'send', 'receive', 'timeout', 'retry', 'max_losses'] as const;
const switchKeys = ['switch', 'otherwise', 'no_match'] as const;
const inlineKeys = ['inline'] as const;
const kinds = ['call', 'switch', 'inline'] as const;
const allKeys = [...commonKeys, ...callKeys, ...switchKeys, ...inlineKeys] as const;
type StepKey = (typeof allKeys)[number];

const noMatchWords: ReadonlyMap<string, NoMatch> = new Map([
  ['pass', NoMatch.PASS],
  ['fail', NoMatch.FAIL],
]);

/** `longestMs` is the time that the run has: no default of the step is longer. */
export function readStep(report: Report, id: string, located: Located, longestMs: bigint): Step {
  const kind = kindOf(report, located);
  const members: Members<StepKey> = readMembers(report, located, keysOf(kind), kind ? stepNames[kind] : 'a step');
  return create(StepSchema, {
    id,
    after: readNames(report, members.after, 'step ids'),
    when: readExpression(report, members.when),
    kind:
      kind === 'call'
        ? { case: 'call', value: readCall(report, members, longestMs) }
        : kind === 'switch'
          ? { case: 'switch', value: readSwitch(report, members) }
          : kind === 'inline'
            ? { case: 'inline', value: readInline(report, members.inline) }
            : { case: undefined },
  });
}

/** Which of the kinds a step is; undefined, and reported, when it is none or several. */
function kindOf(report: Report, { node, path }: Located): (typeof kinds)[number] | undefined {
  if (node.kind !== 'map') return undefined;
  const found = kinds.filter((kind) => node.entries.has(kind));
  if (found.length === 1) return found[0];
  const what = found.length === 0 ? 'none' : found.join(' and ');
  report('shape.kind', path, `a step has exactly one of the keys ${kinds.join(', ')}, found ${what}`);
  return undefined;
}

function keysOf(kind: (typeof kinds)[number] | undefined): readonly StepKey[] {
  switch (kind) {
    case 'call':
      return [...commonKeys, ...callKeys];
    case 'switch':
      return [...commonKeys, ...switchKeys];
    case 'inline':
      return [...commonKeys, ...inlineKeys];
    case undefined:
      return allKeys;
  }
}

/** Also the call of an exit call, which is written the same. */
export function readCall(report: Report, members: Members<(typeof callKeys)[number]>, longestMs: bigint): Call {
  const retry = members.retry ? readMembers(report, members.retry, ['tries', 'first', 'max'], 'retry') : {};
  const atMost = (defaultMs: number): number => Math.min(defaultMs, Number(longestMs));
  const firstMs = readDuration(report, retry.first, atMost(flowDefaults.firstBackoffMs));
  // What the author says of one pause moves the default of the other.
  const maxMs = readDuration(report, retry.max, Math.max(atMost(flowDefaults.maxBackoffMs), Number(firstMs)));
  return create(CallSchema, {
    module: (members.call && readText(report, members.call, 'the module of a call')) ?? '',
    send: readNames(report, members.send, 'field names'),
    receive: readNames(report, members.receive, 'field names'),
    timeoutMs: readDuration(report, members.timeout, atMost(flowDefaults.timeoutMs)),
    retry: {
      tries: readCount(report, retry.tries, flowDefaults.tries),
      firstMs: retry.first || firstMs < maxMs ? firstMs : maxMs,
      maxMs,
    },
    maxLosses: readCount(report, members.max_losses, flowDefaults.maxLosses),
  });
}

function readSwitch(report: Report, members: Members<(typeof switchKeys)[number]>): Switch {
  const word = members.no_match && readWord(report, members.no_match, noMatchWords, 'no_match');
  if (members.no_match && members.otherwise) {
    report('references.no-match', members.no_match.path, 'no_match and otherwise say the same thing twice; keep one');
  }
  return create(SwitchSchema, {
    cases: readItems(report, members.switch, 'cases').map((item) => {
      const each = readMembers(report, item, ['when', 'then'], 'a case');
      for (const key of ['when', 'then'] as const) {
        if (item.node.kind === 'map' && !each[key])
          report('shape.required', item.path, `a case needs the key '${key}'`);
      }
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
      return { when: readExpression(report, each.when), then: readNames(report, each.then, 'step ids') };
    }),
    otherwise: readNames(report, members.otherwise, 'step ids'),
    noMatch: members.otherwise ? NoMatch.OTHERWISE : (word ?? NoMatch.FAIL),
  });
}

function readInline(report: Report, located: Located | undefined): Inline {
  const map = located && readMap(report, located, 'inline');
  return create(InlineSchema, {
    set: [...(map?.entries ?? [])].map(([field, { value }]) => ({
      field,
      expression: readExpression(report, { node: value, path: childPath(located?.path ?? '', field) }),
    })),
  });
}

function readExpression(report: Report, located: Located | undefined): string {
  if (!located) return '';
  const source = readText(report, located, 'an expression');
  if (source === '') report('expressions.valid', located.path, 'an expression is needed, found an empty text');
  return source ?? '';
}
