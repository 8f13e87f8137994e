// A script of a simulation: what the item brings, what modules answer, what happens meanwhile. Text → tree → `Script`; every
// problem is told with its place.

import { locate } from '../definition/places.ts';
import { childPath, faultCollector, type Position, type Report } from '../definition/problem.ts';
import { type Located, readCount, readItems, readMap, readMembers } from '../definition/reader.ts';
import { readSource, type SourceNode } from '../definition/source.ts';
import { defaultLevel, isLevel } from '../level.ts';
import { didYouMean } from '../nearest-name.ts';
import type { Plan } from '../plan.ts';
import type { FieldValue } from '../run.ts';
import { answeredBy } from './answered-by.ts';
import { type Answered, type Reply, readAnswered, readReply } from './reply.ts';
import { readScriptedEvent, type ScriptedEvent } from './scripted-event.ts';
import { readValues } from './values.ts';

export interface Script {
  /** Fields that come with the item. */
  readonly inputs: ReadonlyMap<string, FieldValue>;
  /** 1 (first) to 9. */
  readonly level: number;
  /** Replies by step, in the order in which they are given. An exit call is `exit/<index>`, a branch `<step>[<index>]`. */
  readonly replies: ReadonlyMap<string, StepReplies>;
  /** The answer of every module that has none of its own. */
  readonly otherwise?: Answered;
  /** In the order of their times. */
  readonly events: readonly ScriptedEvent[];
  /** Where the replies stand: the place of a call that has none. */
  readonly position: Position;
}

export interface StepReplies {
  readonly replies: readonly Reply[];
  readonly position: Position;
}

export interface ScriptProblem extends Position {
  /** As in `steps.score[1].answer`; empty for the whole script. */
  readonly path: string;
  readonly message: string;
}

export type ScriptReading =
  | { readonly kind: 'script'; readonly script: Script }
  | { readonly kind: 'problems'; readonly problems: readonly ScriptProblem[] };

const scriptKeys = ['inputs', 'level', 'steps', 'otherwise', 'events'] as const;

/** Reads a script for runs of `plan`: either the script, or all that is wrong with it in the order of the text. Never throws. */
export function readScript(text: string, plan: Plan): ScriptReading {
  const source = readSource(text, 'a script');
  if (source.kind === 'problems') return source;
  const { faults, report } = faultCollector();
  const script = readRoot(report, source.root, plan);
  const problems = [...source.problems, ...locate(source.root, faults)];
  if (problems.length === 0) return { kind: 'script', script };
  return {
    kind: 'problems',
    problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column),
  };
}

function readRoot(report: Report, root: SourceNode, plan: Plan): Script {
  const members = readMembers(report, { node: root, path: '' }, scriptKeys, 'a script');
  const level = readCount(report, members.level, defaultLevel);
  if (!isLevel(level)) report('shape.number', 'level', `found ${level}; levels are 1 to 9`);
  const otherwise = members.otherwise && readAnswered(report, members.otherwise, false);
  const events = readItems(report, members.events, 'events').flatMap((item) => readScriptedEvent(report, item) ?? []);
  return {
    inputs: readValues(report, members.inputs),
    level,
    replies: readReplies(report, members.steps, plan),
    ...(otherwise && { otherwise }),
    events: events.toSorted((one, other) => one.atMs - other.atMs),
    position: members.steps?.node ?? root,
  };
}

function readReplies(report: Report, located: Located | undefined, plan: Plan): ReadonlyMap<string, StepReplies> {
  const replies = new Map<string, StepReplies>();
  const map = located && readMap(report, located, 'steps');
  for (const [id, { value, position }] of map?.entries ?? []) {
    const path = childPath('steps', id);
    const how = answeredBy(plan, id);
    if (how.kind === 'unknown') {
      const ids = [...plan.byId.keys(), ...plan.exitCalls.map((exit) => exit.id)];
      report('references.step', path, `no step is called ${JSON.stringify(id)}${didYouMean(id, ids)}`);
      continue;
    }
    if (how.kind === 'nobody') {
      report('references.step', path, `${id} is ${how.what}: nobody is called, so nothing is answered`);
      continue;
    }
    const at = { node: value, path };
    // One reply may stand without a list around it.
    const items = value.kind === 'list' ? readItems(report, at, 'replies') : [at];
    replies.set(id, { position, replies: items.flatMap((item) => readReply(report, item, how.kind) ?? []) });
  }
  return replies;
}
