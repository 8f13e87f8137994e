// Compares all rows of the index with what the runs say, shard by shard, and mends what differs. Slow: it reads every run's head. Meant
// for what should never be: rows that were lost or brought back outside of Weir (a damaged file, a restored copy).
//
// Runs go on meanwhile, so what looks wrong is looked at again, run and entry at once, before it counts; and it is mended only on
// condition that the run is still as it was seen.

import { decodeEvent } from '../codec.ts';
import type { RunId } from '../run-name.ts';
import { absent, columns, equals, put, remove, valueOf } from './cells.ts';
import type { HBase, Row, RowGroup } from './client/port.ts';
import { column, encodeEntries, encodeFence, encodeIndexValue, repairedEventStamp, stampOf } from './columns.ts';
import { indexKeys } from './index-rows.ts';
import {
  afterPrefix,
  behindKind,
  indexSuffixAt,
  kindPrefix,
  number8,
  RunKeys,
  readNumber8,
  readRunSuffix,
  rowKind,
} from './row-key.ts';
import { readFacts } from './run-facts.ts';

export interface VerificationTotals {
  runs: number;
  /** Rows of the index: ready, timer, lease, inbox. */
  entries: number;
  /** Entries that a run should have and hasn't: nobody finds it. */
  missing: number;
  /** Entries that no run says it has: they cost a look each time. */
  stale: number;
  /** Of missing and stale. */
  repaired: number;
}

/** One thing that is wrong. */
export interface VerificationFinding {
  readonly kind: 'missing' | 'stale';
  readonly entry: 'ready' | 'timer' | 'lease' | 'inbox';
  readonly run: RunId;
  readonly repaired: boolean;
}

export interface VerificationOptions {
  readonly hbase: HBase;
  readonly table: string;
  readonly shards: number;
  readonly repair: boolean;
  /** Hears of each finding. */
  readonly onFinding: (finding: VerificationFinding) => void;
}

interface Suspect {
  readonly kind: VerificationFinding['kind'];
  readonly entry: VerificationFinding['entry'];
  readonly run: RunId;
  /** Key of the row of the index. */
  readonly key: Buffer;
}

const runColumns = columns([column.fence, column.write, column.entries, column.control, column.holder]);

/** Suspects that are looked at again at a time. */
const suspectsPerRead = 200;

const entryKinds = new Map<string, VerificationFinding['entry']>([
  [rowKind.ready, 'ready'],
  [rowKind.timer, 'timer'],
  [rowKind.lease, 'lease'],
  [rowKind.inbox, 'inbox'],
]);

function entryKindOf(key: Buffer): VerificationFinding['entry'] {
  const kind = entryKinds.get(key.toString('latin1', behindKind - 1, behindKind));
  if (!kind) throw new Error(`not a row of the index: ${key.toString('hex')}`);
  return kind;
}

/** Verifies one shard; adds to `totals`. Memory: the keys of the shard's entries. Throws HBaseFailure. */
export async function verifyShard(
  shard: number,
  options: VerificationOptions,
  totals: VerificationTotals,
): Promise<void> {
  const stored = await storedEntries(shard, options);
  totals.entries += stored.size;
  const suspects: Suspect[] = [];
  const suspect = async (found: Suspect) => {
    suspects.push(found);
    if (suspects.length === suspectsPerRead) await lookAgain(suspects.splice(0), options, totals);
  };
  for await (const needed of neededEntries(shard, options, totals)) {
    if (!stored.delete(needed.key.toString('latin1'))) await suspect({ kind: 'missing', ...needed });
  }
  for (const text of stored) {
    const key = Buffer.from(text, 'latin1');
    const entry = entryKindOf(key);
    await suspect({ kind: 'stale', entry, run: readRunSuffix(key, indexSuffixAt[entry]).run, key });
  }
  await lookAgain(suspects, options, totals);
}

/** Keys of all rows of the index in a shard. */
async function storedEntries(shard: number, options: VerificationOptions): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const kind of [rowKind.ready, rowKind.timer, rowKind.lease, rowKind.inbox]) {
    for await (const { row } of rowsOf(options, kindPrefix(shard, kind))) keys.add(row.toString('latin1'));
  }
  return keys;
}

/** What the runs and the events of a shard should have in the index. */
async function* neededEntries(
  shard: number,
  options: VerificationOptions,
  totals: VerificationTotals,
): AsyncIterable<Omit<Suspect, 'kind'>> {
  for await (const row of rowsOf(options, kindPrefix(shard, rowKind.run), runColumns)) {
    totals.runs++;
    const { run } = readRunSuffix(row.row, behindKind);
    const facts = readFacts(row);
    if (!facts) continue;
    for (const key of indexKeys(new RunKeys(run, options.shards), facts.entries)) {
      yield { entry: entryKindOf(key), run, key };
    }
  }
  for await (const row of rowsOf(options, kindPrefix(shard, rowKind.event))) {
    const { run, rest } = readRunSuffix(row.row, behindKind);
    const event = decodeEvent(valueOf(row, column.value) ?? new Uint8Array());
    const key = new RunKeys(run, options.shards).inbox(Number(event.arrivedMs), readNumber8(rest, 0));
    yield { entry: 'inbox', run, key };
  }
}

async function lookAgain(
  suspects: readonly Suspect[],
  options: VerificationOptions,
  totals: VerificationTotals,
): Promise<void> {
  const { hbase, table, repair, onFinding } = options;
  const found: Array<{ suspect: Suspect; repair: RowGroup }> = [];
  for (const [index, seen] of (await readSuspects(suspects, options)).entries()) {
    const suspect = suspects[index];
    const mending = suspect && seen && repairOf(suspect, seen);
    if (mending) found.push({ suspect, repair: mending });
  }
  if (found.length === 0) return;
  const groups = found.map(({ repair }) => repair);
  const results = repair ? await hbase.mutateRows(table, groups) : [];
  for (const [index, { suspect }] of found.entries()) {
    const { kind, entry, run } = suspect;
    const repaired = results[index]?.kind === 'done';
    totals[kind]++;
    if (repaired) totals.repaired++;
    onFinding({ kind, entry, run, repaired });
  }
}

/** A suspect as it is now. */
interface Seen {
  readonly keys: RunKeys;
  readonly run: Row | undefined;
  /** The row of the index. */
  readonly entry: Row | undefined;
  /** The event of an inbox entry. */
  readonly event: Row | undefined;
}

/**
 * The entry is read between two readings of its run and event. When those differ somebody is at work there; such a suspect is let go
 * (undefined), and the next verification looks again.
 */
async function readSuspects(
  suspects: readonly Suspect[],
  options: VerificationOptions,
): Promise<Array<Seen | undefined>> {
  const { hbase, table, shards } = options;
  const keys = suspects.map(({ run }) => new RunKeys(run, shards));
  const before = await readOwners(suspects, keys, options);
  const entries = await hbase.getMany(
    table,
    suspects.map(({ key }) => key),
  );
  const after = await readOwners(suspects, keys, options);
  return keys.map((each, index) => {
    const [one, other] = [before[index], after[index]];
    if (!one || !other || !sameCells(one.run, other.run) || !sameCells(one.event, other.event)) return undefined;
    return { keys: each, entry: entries[index], ...other };
  });
}

/** Runs, and the events of inbox entries. */
async function readOwners(
  suspects: readonly Suspect[],
  keys: readonly RunKeys[],
  { hbase, table }: VerificationOptions,
): Promise<Array<Pick<Seen, 'run' | 'event'>>> {
  const runs = await hbase.getMany(
    table,
    keys.map(({ row }) => row),
    { columns: runColumns },
  );
  const rows = suspects.flatMap(({ entry, key }, index) => {
    const sequence = entry === 'inbox' ? readNumber8(readRunSuffix(key, indexSuffixAt.inbox).rest, 0) : undefined;
    return sequence === undefined ? [] : [keys[index]?.event(sequence) ?? key];
  });
  const events = rows.length === 0 ? [] : [...(await hbase.getMany(table, rows))];
  return suspects.map(({ entry }, index) => ({
    run: runs[index],
    event: entry === 'inbox' ? events.shift() : undefined,
  }));
}

function sameCells(one: Row | undefined, other: Row | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    one.cells.length === other.cells.length &&
    one.cells.every(({ value }, index) => other.cells[index]?.value.equals(value) === true)
  );
}

/** What mends it, conditional on what was seen; undefined when nothing is wrong any more. */
function repairOf({ kind, entry: name, key }: Suspect, { keys, run, entry, event }: Seen): RowGroup | undefined {
  const facts = readFacts(run);
  const fence = facts ? equals(keys.row, column.fence, encodeFence(facts.fence)) : absent(keys.row, column.fence);
  const entries = facts && equals(keys.row, column.entries, encodeEntries(facts.entries));
  const conditions = entries ? [fence, entries] : [fence];
  const isNeeded =
    name === 'inbox'
      ? event !== undefined
      : facts !== undefined && indexKeys(keys, facts.entries).some((needed) => needed.equals(key));
  if (isNeeded === (entry !== undefined) || isNeeded !== (kind === 'missing')) return undefined;
  if (!isNeeded) {
    const stamp = entry?.cells[0]?.timestamp ?? 0;
    return { row: keys.row, conditions, mutations: [remove(key, stamp, [column.value])] };
  }
  if (name === 'inbox' || !facts) {
    // What hides it is as old as the event, which is put with the number 1.
    const mutation = put(key, repairedEventStamp, [[column.value, number8(0)]]);
    return { row: keys.row, conditions, mutations: [mutation] };
  }
  const holder = (run && valueOf(run, column.holder)) ?? new Uint8Array();
  const { state, inputBytes } = facts;
  const value = encodeIndexValue({ fence: facts.fence, state, inputBytes, holder, ...facts.entries });
  // The greater number of this version: what hides it is older.
  const mutation = put(key, stampOf(facts.fence.version, true), [[column.value, value]]);
  return { row: keys.row, conditions, mutations: [mutation] };
}

async function* rowsOf(
  { hbase, table }: VerificationOptions,
  prefix: Buffer,
  wanted?: ReturnType<typeof columns>,
): AsyncIterable<Row> {
  const scanner = hbase.scan(table, {
    startRow: prefix,
    stopRow: afterPrefix(prefix),
    ...(wanted && { columns: wanted }),
  });
  try {
    for (let rows = await scanner.next(); rows.length > 0; rows = await scanner.next()) yield* rows;
  } finally {
    await scanner.close();
  }
}
