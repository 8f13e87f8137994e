// What happens to a run from outside while it goes on: people, other systems, and the loss of its holder.

import { type Report } from '../definition/problem.ts';
import { type Located, type Members, readCount, readDuration, readMembers, readText } from '../definition/reader.ts';
import { printValues, readValues } from './values.ts';
import type { InboxKind } from './virtual-run.ts';

export interface ScriptedEvent {
  /** Since the submission, in ms. */
  readonly atMs: number;
  /** For traces. */
  readonly what: string;
  readonly happening: Happening;
}

export type Happening =
  | { readonly kind: 'inbox'; readonly event: InboxKind }
  /** The holder dies and another dispatch claims the run: calls that were out are lost. */
  | { readonly kind: 'reclaim' };

const eventKeys = ['cancel', 'level', 'retry', 'rewind', 'release', 'signal', 'reclaim'] as const;

/** What an event says besides. */
const detailKeys = ['outcome', 'fields'] as const;
const detailOf: Partial<Readonly<Record<(typeof eventKeys)[number], (typeof detailKeys)[number]>>> = {
  rewind: 'outcome',
  signal: 'fields',
};

const allKeys = ['at', ...eventKeys, ...detailKeys] as const;
type EventMembers = Members<(typeof allKeys)[number]>;
type Read = (report: Report, value: Located, members: EventMembers) => Omit<ScriptedEvent, 'atMs'>;

const readers: Readonly<Record<(typeof eventKeys)[number], Read>> = {
  cancel: (report, value) => {
    const cause = readText(report, value, 'the cause of a cancel') ?? '';
    return inbox(`cancel: ${cause}`, { case: 'cancel', value: { cause } });
  },
  level: (report, value) => {
    const level = readCount(report, value, 0);
    return inbox(`level ${level}`, { case: 'level', value: { level } });
  },
  retry: (report, value) => {
    const outcomeNumber = readCount(report, value, 0);
    return inbox(`retry of outcome ${outcomeNumber}`, { case: 'retry', value: { outcomeNumber } });
  },
  rewind: (report, value, members) => {
    const step = readText(report, value, 'the step of a rewind') ?? '';
    const outcomeNumber = readCount(report, members.outcome, 1);
    return inbox(`rewind of outcome ${outcomeNumber} to ${step}`, { case: 'rewind', value: { step, outcomeNumber } });
  },
  release: (report, value) => {
    expectTrue(report, value);
    return inbox('release', { case: 'release', value: {} });
  },
  signal: (report, value, members) => {
    const name = readText(report, value, 'the name of a signal') ?? '';
    const values = readValues(report, members.fields);
    const fields = Object.fromEntries([...values].map(([field, { bytes }]) => [field, { value: bytes }]));
    return inbox(`signal ${name} ${printValues(values)}`.trimEnd(), { case: 'signal', value: { name, fields } });
  },
  reclaim: (report, value) => {
    expectTrue(report, value);
    return { what: 'its holder dies, another one claims the run', happening: { kind: 'reclaim' } };
  },
};

/** One event. Undefined, and reported, when it can't be read. */
export function readScriptedEvent(report: Report, located: Located): ScriptedEvent | undefined {
  const members = readMembers(report, located, allKeys, 'an event');
  if (located.node.kind !== 'map') return undefined;
  if (!members.at) report('shape.required', located.path, "an event needs the key 'at'");
  const found = eventKeys.filter((key) => members[key]);
  const [key] = found;
  const value = key && members[key];
  if (!value || found.length > 1) {
    const what = found.length === 0 ? 'none' : found.join(' and ');
    report('shape.kind', located.path, `an event has exactly one of the keys ${eventKeys.join(', ')}, found ${what}`);
    return undefined;
  }
  for (const detail of detailKeys) {
    const at = members[detail];
    if (at && detailOf[key] !== detail) report('shape.unknown-key', at.path, `${key} has no ${detail}`);
  }
  return { atMs: Number(readDuration(report, members.at, 0)), ...readers[key](report, value, members) };
}

function inbox(what: string, event: InboxKind): Omit<ScriptedEvent, 'atMs'> {
  return { what, happening: { kind: 'inbox', event } };
}

function expectTrue(report: Report, { node, path }: Located): void {
  if (node.kind !== 'scalar' || node.value !== true) report('shape.value', path, 'true is needed');
}
