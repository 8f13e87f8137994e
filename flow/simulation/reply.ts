// What a step hears from outside: the answer of a module, the later answer to a callback, the end of a sub-flow.

import { ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { Ending, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Position, Report } from '../definition/problem.ts';
import { type Located, type Members, readDuration, readMembers, readText, readWord } from '../definition/reader.ts';
import { endingsByCode } from '../return-code.ts';
import type { FieldValue } from '../run.ts';
import type { AnsweredBy } from './answered-by.ts';
import { readValues } from './values.ts';

export type Reply = Answered | ChildEnded;

interface Common {
  /** As written: `SUCC`, `TIMED_OUT`, `FAILED`. */
  readonly word: string;
  readonly message: string;
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** From the call, in ms. Undefined where the script says nothing. */
  readonly afterMs: number | undefined;
  readonly position: Position;
}

export interface Answered extends Common {
  readonly kind: 'answered';
  readonly ending: Ending;
  readonly code?: number;
  /** The answer by token to a callback that was taken on; without it none comes. */
  readonly later?: Answered;
}

export interface ChildEnded extends Common {
  readonly kind: 'ended';
  readonly outcome: State;
}

interface Word {
  readonly ending: Ending;
  readonly code?: number;
}

/** Return codes, and what stands for an answer that doesn't come. */
const answerWords: ReadonlyMap<string, Word> = new Map([
  ...[...endingsByCode].map(([code, ending]): [string, Word] => [ReturnCode[code] ?? '', { ending, code }]),
  ['TIMED_OUT', { ending: Ending.TIMED_OUT }],
  ['UNREACHABLE', { ending: Ending.UNREACHABLE }],
  ['LOST', { ending: Ending.LOST }],
  ['VIOLATION', { ending: Ending.VIOLATION }],
]);

const outcomeWords: ReadonlyMap<string, State> = new Map([
  ['SUCCEEDED', State.SUCCEEDED],
  ['FAILED', State.FAILED],
  ['CANCELLED', State.CANCELLED],
]);

const commonKeys = ['fields', 'message', 'after'] as const;
const answerKeys = ['answer', ...commonKeys] as const;
const callbackKeys = [...answerKeys, 'later'] as const;
const endedKeys = ['ended', ...commonKeys] as const;

/** A reply to what `by` says; `SUCC` is short for `{ answer: SUCC }`. Undefined, and reported, when it can't be read. */
export function readReply(report: Report, located: Located, by: AnsweredBy): Reply | undefined {
  if (by === 'child') return readEnded(report, located);
  return readAnswered(report, located, by === 'callback');
}

/** A reply of a module. `isCallback`: it may say what is answered later. */
export function readAnswered(report: Report, located: Located, isCallback: boolean): Answered | undefined {
  const keys = isCallback ? callbackKeys : answerKeys;
  const members = membersOf<(typeof callbackKeys)[number]>(report, located, 'answer', keys);
  const word = members.answer && readWord(report, members.answer, answerWords, 'an answer');
  const common = readCommon(report, located, members.answer, members);
  const later = members.later && readAnswered(report, members.later, false);
  return word && { kind: 'answered', ...common, ...word, ...(later && { later }) };
}

function readEnded(report: Report, located: Located): ChildEnded | undefined {
  const members = membersOf(report, located, 'ended', endedKeys);
  const outcome = members.ended && readWord(report, members.ended, outcomeWords, 'the end of a sub-flow');
  const common = readCommon(report, located, members.ended, members);
  return outcome === undefined ? undefined : { kind: 'ended', ...common, outcome };
}

function membersOf<Key extends string>(
  report: Report,
  located: Located,
  first: Key,
  keys: readonly Key[],
): Members<Key> {
  if (located.node.kind === 'scalar') return { [first]: located } as Members<Key>;
  const members = readMembers(report, located, keys, 'a reply');
  if (located.node.kind === 'map' && !members[first]) {
    report('shape.required', located.path, `a reply needs the key '${first}'`);
  }
  return members;
}

function readCommon(
  report: Report,
  { node }: Located,
  word: Located | undefined,
  members: Members<(typeof commonKeys)[number]>,
): Common {
  return {
    word: word?.node.kind === 'scalar' ? word.node.text : '',
    message: (members.message && readText(report, members.message, 'a message')) ?? '',
    fields: readValues(report, members.fields),
    afterMs: members.after && Number(readDuration(report, members.after, 0)),
    position: { line: node.line, column: node.column },
  };
}
