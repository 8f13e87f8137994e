// Reading one run. A row is read in one state; what lies beside it is read after it, so that it is as old or newer (S6).

import type { RunId } from '../../flow/run.ts';
import type { InboxEvent } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeEvent } from '../codec.ts';
import type { InboxView, RunHead, StoredRun } from '../port.ts';
import { columns, copied, valueOf } from './cells.ts';
import type { HBase, Row } from './client/port.ts';
import { column, decodeFence } from './columns.ts';
import {
  afterPrefix,
  behindKind,
  identitySuffix,
  kindPrefix,
  RunKeys,
  readNumber8,
  readRunSuffix,
  rowKind,
  shardOfName,
} from './row-key.ts';
import { type KnownRuns, readFacts } from './run-facts.ts';
import { headColumns, readHead, readRun } from './run-row.ts';

const inboxColumns = columns([column.fence, column.inbox]);
const fenceColumn = columns([column.fence]);

export class RunReader {
  readonly #hbase: HBase;
  readonly #table: string;
  readonly #shards: number;
  readonly #known: KnownRuns;

  constructor(hbase: HBase, table: string, shards: number, known: KnownRuns) {
    this.#hbase = hbase;
    this.#table = table;
    this.#shards = shards;
    this.#known = known;
  }

  /** What is loaded is remembered: it is claimed next. */
  async load(run: RunId): Promise<StoredRun | undefined> {
    const keys = new RunKeys(run, this.#shards);
    const row = await this.#hbase.get(this.#table, keys.row);
    const stored = readRun(run, row);
    if (!row || !stored) return undefined;
    const facts = readFacts(row, stored.run.control);
    if (facts) this.#known.note(run, facts);
    return { ...stored, inbox: await this.#events(keys, row) };
  }

  async peek(run: RunId): Promise<RunHead | undefined> {
    const { row } = new RunKeys(run, this.#shards);
    return readHead(await this.#hbase.get(this.#table, row, { columns: columns(headColumns) }));
  }

  async inbox(run: RunId): Promise<InboxView | undefined> {
    const keys = new RunKeys(run, this.#shards);
    const row = await this.#hbase.get(this.#table, keys.row, { columns: inboxColumns });
    const fence = row && valueOf(row, column.fence);
    return row && fence && { fence: decodeFence(fence), events: await this.#events(keys, row) };
  }

  /** The generations of an identity lie together, the newest first. */
  async newest(identity: string): Promise<RunId | undefined> {
    const kind = kindPrefix(shardOfName(identity, this.#shards), rowKind.run);
    const startRow = Buffer.concat([kind, identitySuffix(identity)]);
    const options = { startRow, stopRow: afterPrefix(startRow), limit: 1, columns: fenceColumn };
    const scanner = this.#hbase.scan(this.#table, options);
    try {
      const [row] = await scanner.next();
      return row && readRunSuffix(row.row, behindKind).run;
    } finally {
      await scanner.close();
    }
  }

  /** Those that wait. A run to which nothing was ever posted isn't asked. */
  async #events(keys: RunKeys, row: Row): Promise<InboxEvent[]> {
    const posted = valueOf(row, column.inbox);
    if (!posted || readNumber8(posted, 0) === 0) return [];
    const events: InboxEvent[] = [];
    const scanner = this.#hbase.scan(this.#table, { startRow: keys.events, stopRow: afterPrefix(keys.events) });
    try {
      for (let rows = await scanner.next(); rows.length > 0; rows = await scanner.next()) {
        for (const each of rows) {
          const event = valueOf(each, column.value);
          if (event) events.push(decodeEvent(copied(event)));
        }
      }
    } finally {
      await scanner.close();
    }
    return events;
  }
}
