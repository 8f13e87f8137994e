// From the message `weir.flow.v1.Flow` back to the tree that an author would write: defaults are left out, words stand for numbers.
// Reading the tree gives the message again. A new kind of step is an entry of the table.

import {
  type Call,
  type ExitCall,
  ExitState,
  type FieldDeclaration,
  FieldType,
  type Flow,
  NoMatch,
  type Step,
} from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { fieldTypeName } from '../field-type.ts';
import { isAddress } from './address.ts';
import { printDuration } from './duration.ts';
import { flowDefaults, flowLimits } from './limits.ts';
import { maxFailuresWords } from './steps/for-each.ts';
import { losersWords, needWords } from './steps/join.ts';
import { noMatchWords } from './steps/switch.ts';
import { onTimeoutWords } from './steps/wait.ts';

/** What JSON and YAML can hold. A map is an object whose keys stand in the order in which they are written. */
export type Tree = string | number | boolean | null | readonly Tree[] | TreeMap;
export interface TreeMap {
  readonly [key: string]: Tree;
}

type Kinds = Extract<Step['kind'], { case: string }>;
type KindOf<Case extends Kinds['case']> = Extract<Kinds, { case: Case }>['value'];
type Write<Kind> = (kind: Kind, longestMs: number) => TreeMap;

const writers: { readonly [Case in Kinds['case']]: Write<KindOf<Case>> } = {
  call: (call, longestMs) => ({ call: call.module, ...callOptions(call, longestMs) }),
  switch: ({ cases, otherwise, noMatch }) => ({
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
    switch: cases.map(({ when, then }) => ({ when, then })),
    ...(noMatch === NoMatch.OTHERWISE && { otherwise }),
    ...unless('no_match', wordOf(noMatchWords, noMatch), [undefined, wordOf(noMatchWords, NoMatch.FAIL)]),
  }),
  inline: ({ set }) => ({ inline: Object.fromEntries(set.map(({ field, expression }) => [field, expression])) }),
  join: ({ need, losers }) => ({
    join: {
      ...unless('need', wordOf(needWords, need) ?? need, [firstWord(needWords)]),
      ...unless('losers', wordOf(losersWords, losers), [firstWord(losersWords)]),
    },
  }),
  wait: ({ what }) => ({ wait: waitTree(what) }),
  callback: ({ call, answerWithinMs }, longestMs) => ({
    callback: call?.module ?? '',
    ...(call && callOptions(call, longestMs)),
    ...duration('answer_within', answerWithinMs, Math.min(flowDefaults.answerWithinMs, longestMs)),
  }),
  subFlow: (subFlow) => subFlowTree(subFlow),
  startFlow: ({ flow, send, maxGenerations }) => ({
    start_flow: flow,
    ...list('send', send),
    ...unless('max_generations', maxGenerations, [flowDefaults.maxGenerations]),
  }),
  forEach: ({ over, as, branch, into, concurrency, maxFailures }, longestMs) => ({
    for_each: over,
    as,
    ...(branch.case === 'call' && { call: branch.value.module, ...callOptions(branch.value, longestMs) }),
    ...(branch.case === 'subFlow' && subFlowTree(branch.value)),
    into,
    ...unless('concurrency', concurrency, [flowDefaults.concurrency]),
    ...unless('max_failures', wordOf(maxFailuresWords, maxFailures) ?? maxFailures, [flowDefaults.maxFailures]),
  }),
};

/** The tree of a valid flow. */
export function authoredFlow(flow: Flow): TreeMap {
  const { name, business, description, fields, deadlineMs, steps, onExit } = flow;
  return {
    flow: name,
    business,
    ...unless('description', description, ['']),
    ...(fields.length > 0 && { fields: Object.fromEntries(fields.map((field) => [field.name, fieldTree(field)])) }),
    ...duration('deadline', deadlineMs, flowDefaults.deadlineMs),
    steps: Object.fromEntries(steps.map((step) => [step.id, stepTree(step, Number(deadlineMs))])),
    ...(onExit.length > 0 && { on_exit: onExit.map(exitTree) }),
  };
}

function stepTree({ id, after, when, kind }: Step, longestMs: number): TreeMap {
  if (kind.case === undefined) throw new Error(`step ${id} has no kind that this engine knows`);
  const write = writers[kind.case] as Write<Kinds['value']>;
  return { ...list('after', after), ...unless('when', when, ['']), ...write(kind.value, longestMs) };
}

function exitTree({ when, call }: ExitCall): TreeMap {
  const target = call?.module ?? '';
  return {
    when: when.map((state) => ExitState[state]),
    ...(isAddress(target) ? { url: target } : { call: target }),
    ...(call && callOptions(call, flowLimits.maxDeadlineMs)),
  };
}

/** `longestMs` is what defaults are cut to. */
function callOptions({ send, receive, timeoutMs, retry, maxLosses }: Call, longestMs: number): TreeMap {
  const { tries = 0, firstMs = 0n, maxMs = 0n } = retry ?? {};
  const defaultMaxMs = Math.min(flowDefaults.maxBackoffMs, longestMs);
  const areDefaultPauses =
    Number(firstMs) === Math.min(flowDefaults.firstBackoffMs, longestMs) && Number(maxMs) === defaultMaxMs;
  const policy: TreeMap = {
    ...unless('tries', tries, [flowDefaults.tries]),
    // Each pause moves the default of the other, so that both are written or none.
    ...(!areDefaultPauses && { first: printDuration(Number(firstMs)), max: printDuration(Number(maxMs)) }),
  };
  return {
    ...list('send', send),
    ...list('receive', receive),
    ...duration('timeout', timeoutMs, Math.min(flowDefaults.timeoutMs, longestMs)),
    ...(Object.keys(policy).length > 0 && { retry: policy }),
    ...unless('max_losses', maxLosses, [flowDefaults.maxLosses]),
  };
}

function subFlowTree({ flow, send, receive, version }: KindOf<'subFlow'>): TreeMap {
  return { sub_flow: flow, ...unless('version', version, [0]), ...list('send', send), ...list('receive', receive) };
}

function waitTree(what: KindOf<'wait'>['what']): TreeMap {
  switch (what.case) {
    case 'forMs':
      return { for: printDuration(Number(what.value)) };
    case 'until':
      return { until: what.value };
    case 'signal': {
      const { name, receive, timeoutMs, onTimeout } = what.value;
      return {
        signal: name,
        ...list('receive', receive),
        ...duration('timeout', timeoutMs, 0),
        ...unless('on_timeout', wordOf(onTimeoutWords, onTimeout), [firstWord(onTimeoutWords)]),
      };
    }
    case undefined:
      return {};
  }
}

function fieldTree({ type, default: text }: FieldDeclaration): Tree {
  const name = fieldTypeName(type);
  return text === undefined ? name : { type: name, default: defaultTree(type, text) };
}

/** The value itself where it is written with the same digits; its text, in quotes, otherwise. */
function defaultTree(type: FieldType, text: string): Tree {
  if (type === FieldType.JSON) return JSON.parse(text) as Tree;
  if (type === FieldType.BOOL && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = type === FieldType.INT || type === FieldType.DOUBLE;
  return isNumber && String(Number(text)) === text ? Number(text) : text;
}

function list(key: string, names: readonly string[]): TreeMap {
  return names.length === 0 ? {} : { [key]: names };
}

function duration(key: string, valueMs: bigint, defaultMs: number): TreeMap {
  return Number(valueMs) === defaultMs ? {} : { [key]: printDuration(Number(valueMs)) };
}

/** The key with its value, unless that is one that needs no word. */
function unless<Value extends Tree | undefined>(key: string, value: Value, left: readonly Value[]): TreeMap {
  return value === undefined || left.includes(value) ? {} : { [key]: value };
}

function wordOf<Value>(words: ReadonlyMap<string, Value>, value: Value): string | undefined {
  for (const [word, each] of words) if (each === value) return word;
  return undefined;
}

function firstWord(words: ReadonlyMap<string, unknown>): string | undefined {
  return words.keys().next().value;
}
