// HBase as the store sees it, in memory: for tests of what a real server doesn't do on demand. It keeps the traps of the real one: what
// is put below the timestamp of the present cell or of a delete stays invisible, a delete hides for ever, and a scan shows
// the table as it was when it began. One table, one region.

import type {
  Condition,
  GroupResult,
  HBase,
  HBaseAdmin,
  Mutation,
  ReadOptions,
  Row,
  RowGroup,
  Scanner,
  ScanOptions,
} from './client/port.ts';

interface StoredCell {
  readonly family: string;
  readonly qualifier: Buffer;
  /** Undefined: never put, or hidden. */
  value: Buffer | undefined;
  timestamp: number;
  /** What was put with this timestamp or an earlier one is hidden. */
  deletedUpTo: number;
}

type StoredRow = Map<string, StoredCell>;

export class HBaseFixture implements HBase {
  readonly #rows = new Map<string, StoredRow>();
  /** Calls of each kind. */
  readonly calls = { read: 0, scan: 0, write: 0 };
  /** Groups of each call of `mutateRows`. */
  readonly groups: number[] = [];
  /** Called before a call of `mutateRows` is applied: what others write in between. */
  beforeWrite: () => void | Promise<void> = () => {};
  /** What the caller is told instead of the outcome. */
  tell: (result: GroupResult) => GroupResult = (result) => result;
  /** What a read shows instead of the row. */
  show: (row: Row | undefined) => Row | undefined = (row) => row;

  async mutateRows(_table: string, groups: readonly RowGroup[]): Promise<readonly GroupResult[]> {
    this.calls.write++;
    this.groups.push(groups.length);
    await this.beforeWrite();
    return groups.map((group) => this.tell(this.#apply(group)));
  }

  async get(table: string, row: Buffer, options: ReadOptions = {}): Promise<Row | undefined> {
    return (await this.getMany(table, [row], options))[0];
  }

  async getMany(_table: string, rows: readonly Buffer[], options: ReadOptions = {}): Promise<Array<Row | undefined>> {
    this.calls.read++;
    return rows.map((row) => this.show(this.#visible(row, options)));
  }

  scan(_table: string, options: ScanOptions): Scanner {
    if (options.reversed === true) throw new Error('the fixture scans forward only');
    let rows: Row[] | undefined;
    const batch = Math.min(options.batch ?? 1_000, options.limit ?? Number.POSITIVE_INFINITY);
    return {
      restarts: 0,
      next: async () => {
        this.calls.scan++;
        rows ??= this.#range(options);
        return rows.splice(0, batch);
      },
      close: async () => {},
    };
  }

  async close(): Promise<void> {}

  get admin(): HBaseAdmin {
    throw new Error('the fixture has no tables to make');
  }

  #apply({ conditions, mutations }: RowGroup): GroupResult {
    if (!conditions.every((condition) => this.#holds(condition))) return { kind: 'conditionFailed' };
    for (const mutation of mutations) this.#mutate(mutation);
    return { kind: 'done' };
  }

  #holds({ row, family, qualifier, equals }: Condition): boolean {
    const value = this.#rows.get(row.toString('latin1'))?.get(cellName(family, qualifier))?.value;
    return equals === undefined ? value === undefined : (value?.equals(equals) ?? false);
  }

  #mutate(mutation: Mutation): void {
    const { family, timestamp } = mutation;
    if (mutation.kind === 'put') {
      for (const { qualifier, value } of mutation.cells) {
        const cell = this.#cell(mutation.row, family, qualifier);
        if (timestamp <= cell.deletedUpTo || timestamp < cell.timestamp) continue;
        cell.value = Buffer.from(value);
        cell.timestamp = timestamp;
      }
      return;
    }
    for (const qualifier of mutation.qualifiers ?? []) {
      const cell = this.#cell(mutation.row, family, qualifier);
      cell.deletedUpTo = Math.max(cell.deletedUpTo, timestamp);
      if (cell.timestamp <= timestamp) cell.value = undefined;
    }
  }

  #cell(row: Buffer, family: string, qualifier: Buffer): StoredCell {
    const rowName = row.toString('latin1');
    let stored = this.#rows.get(rowName);
    if (!stored) {
      stored = new Map();
      this.#rows.set(rowName, stored);
    }
    const name = cellName(family, qualifier);
    let cell = stored.get(name);
    if (!cell) {
      cell = { family, qualifier: Buffer.from(qualifier), value: undefined, timestamp: -1, deletedUpTo: -1 };
      stored.set(name, cell);
    }
    return cell;
  }

  #visible(row: Buffer, { columns }: ReadOptions): Row | undefined {
    const wanted = columns?.map(({ family, qualifier }) => cellName(family, qualifier ?? Buffer.alloc(0)));
    const cells = [...(this.#rows.get(row.toString('latin1')) ?? [])].flatMap(([name, cell]) => {
      if (cell.value === undefined || (wanted && !wanted.includes(name))) return [];
      const { family, qualifier, timestamp, value } = cell;
      return [{ family: Buffer.from(family), qualifier, timestamp, value }];
    });
    cells.sort((one, other) => one.qualifier.compare(other.qualifier));
    return cells.length === 0 ? undefined : { row: Buffer.from(row), cells };
  }

  /** Filters are left to the caller, who looks at each row again. */
  #range({ startRow, stopRow, ...options }: ScanOptions): Row[] {
    const names = [...this.#rows.keys()].map((name) => Buffer.from(name, 'latin1'));
    return names
      .filter((row) => row.compare(startRow) >= 0 && (stopRow.length === 0 || row.compare(stopRow) < 0))
      .sort((one, other) => one.compare(other))
      .flatMap((row) => this.#visible(row, options) ?? []);
  }
}

function cellName(family: string, qualifier: Buffer): string {
  return `${family}:${qualifier.toString('latin1')}`;
}
