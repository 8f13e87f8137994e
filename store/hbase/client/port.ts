// What Weir asks of HBase (2.4 or later), and what comes of it. Implemented by `connectHBase` in client.ts.
//
//   H1  A group of mutations is applied all or nothing, when all its conditions hold; each group is answered for itself.
//   H2  A group that may have been sent is never sent again by itself: `unknown` goes to the caller, who reads back. HBase's
//       nonces don't change that: the server checks them for increments and appends only.
//   H3  Reads and administration repeat what failed until `operationTimeoutMs` is over, then throw HBaseFailure.
//   H4  Buffers given are not changed and must not be changed before the promise settles. Buffers received share the memory of their
//       response: copy what is kept for long.

/** A column of a row as it was read. */
export interface Cell {
  readonly family: Buffer;
  readonly qualifier: Buffer;
  /** As its put said it: of ours the version of the run. */
  readonly timestamp: number;
  readonly value: Buffer;
}

/** A row with at least one cell; cells in the order of family and qualifier, the newest of each only. */
export interface Row {
  readonly row: Buffer;
  readonly cells: readonly Cell[];
}

export interface Column {
  readonly family: string;
  /** Absent: all of the family. */
  readonly qualifier?: Buffer;
}

/** Writes cells. A cell whose `timestamp` is below that of the present one, or of a delete, stays invisible. */
export interface Put {
  readonly kind: 'put';
  readonly row: Buffer;
  readonly family: string;
  /** 0 to 2^53 - 1; of all cells. Always the caller's: server times hide a put that follows a delete within a millisecond. */
  readonly timestamp: number;
  readonly cells: ReadonlyArray<{ readonly qualifier: Buffer; readonly value: Buffer }>;
}

/** Hides the cells of a row with this timestamp or an earlier one, for ever: also of puts that come later. */
export interface Delete {
  readonly kind: 'delete';
  readonly row: Buffer;
  readonly family: string;
  readonly timestamp: number;
  /** Absent: all of the family. */
  readonly qualifiers?: readonly Buffer[];
}

export type Mutation = Put | Delete;

/** `equals` compares all bytes, at least one; absent: the row has no such cell, or an empty one. */
export interface Condition {
  readonly row: Buffer;
  readonly family: string;
  readonly qualifier: Buffer;
  readonly equals?: Buffer;
}

/** Mutations and conditions on rows of one region: that of `row`. At least one mutation. */
export interface RowGroup {
  readonly row: Buffer;
  readonly mutations: readonly Mutation[];
  readonly conditions: readonly Condition[];
}

export type GroupResult =
  | { readonly kind: 'done' }
  /** A condition didn't hold: nothing was changed. */
  | { readonly kind: 'conditionFailed' }
  /** Surely not applied, now or later: may be sent again. Comes after `operationTimeoutMs` of trying, or at once when the waiting line is full. */
  | { readonly kind: 'notSent'; readonly cause: string }
  /** No answer: it may have been applied, or may be applied later. */
  | { readonly kind: 'unknown'; readonly cause: string }
  /** The server says no for a reason that trying again doesn't mend: a bug or a problem of the schema. Not applied. */
  | { readonly kind: 'refused'; readonly cause: string };

/** Made by the functions of filters.ts. */
export interface Filter {
  readonly name: string;
  readonly serialized: Uint8Array;
}

export interface ReadOptions {
  /** Default: all columns. */
  readonly columns?: readonly Column[];
  readonly filter?: Filter;
}

export interface ScanOptions extends ReadOptions {
  /** First row, inclusive (reversed: the highest). Empty: from the first (last) row of the table. */
  readonly startRow: Buffer;
  /** Where it ends, exclusive. Empty: at the end of the table. */
  readonly stopRow: Buffer;
  /** Rows altogether, at least 1. Default: no limit. */
  readonly limit?: number;
  /** Rows of one batch at most, at least 1; default 1,000. A batch also ends at about 2 MB. */
  readonly batch?: number;
  /** From high rows to low; default false. */
  readonly reversed?: boolean;
}

/**
 * Reads rows in order. Within a region it shows the region as it was when its first batch was asked for. When the region moves,
 * splits or its server restarts, it goes on after the last row it gave, from then on with the state of that time.
 * One call at a time. An open scanner keeps a lease at its server alive, so it must be closed.
 */
export interface Scanner {
  /** How often it had to begin again: 0 means one state per region. */
  readonly restarts: number;
  /** The next rows, at least one; none at the end. Throws HBaseFailure. */
  next(): Promise<readonly Row[]>;
  /** Gives up what the server holds for it. Never fails; may be called again. */
  close(): Promise<void>;
}

export interface HBase {
  readonly admin: HBaseAdmin;

  /**
   * Sends all groups together, at most `maxBatchBytes` to a call; results are in the order of the groups, but the groups may
   * be applied in any order, so one call has no two that depend on each other. The table needs
   * `multiRowMutations` among its attributes.
   */
  mutateRows(table: string, groups: readonly RowGroup[]): Promise<readonly GroupResult[]>;
  /** Throws HBaseFailure. Undefined: no such row, or nothing of it was asked for. */
  get(table: string, row: Buffer, options?: ReadOptions): Promise<Row | undefined>;
  /** As `get` for many rows, in their order. Not one state: each row is read for itself. */
  getMany(table: string, rows: readonly Buffer[], options?: ReadOptions): Promise<readonly (Row | undefined)[]>;
  scan(table: string, options: ScanOptions): Scanner;

  /** Ends all calls: writes under way become `unknown`, reads fail. */
  close(): Promise<void>;
}

export interface TableDescription {
  readonly families: readonly Family[];
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Family {
  readonly name: string;
  /** As HBase names them: `VERSIONS`, `COMPRESSION`, `DATA_BLOCK_ENCODING`, … */
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface NewTable {
  readonly families: readonly Family[];
  /** The first rows of all regions but the first, ascending. */
  readonly splitKeys: readonly Buffer[];
  /** As HBase names them; see `multiRowMutations` and `neverSplit` in table-attributes.ts. */
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Region {
  readonly table: string;
  /** As HBase names it: `table,startRow,id.hash.` */
  readonly name: Buffer;
  readonly startRow: Buffer;
  /** Exclusive; empty: the end of the table. */
  readonly endRow: Buffer;
  /** `host:port` of its region server. */
  readonly address: string;
}

/** Tables and regions. All may take seconds and throw HBaseFailure; each resolves when the master says that it is done. */
export interface HBaseAdmin {
  createTable(table: string, description: NewTable): Promise<'created' | 'exists'>;
  /** Undefined: no such table. */
  describeTable(table: string): Promise<TableDescription | undefined>;
  /** With all its rows. */
  deleteTable(table: string): Promise<'deleted' | 'absent'>;
  /** In the order of their rows, as the catalogue of HBase has them now; regions on their way between servers are left out. */
  regions(table: string): Promise<readonly Region[]>;
  /** Takes the region from its server: its rows can't be reached until `openRegion`. */
  closeRegion(region: Region): Promise<void>;
  openRegion(region: Region): Promise<void>;
  /** In two at `row`. Refused for a table that is never split. */
  splitRegion(region: Region, row: Buffer): Promise<void>;
  /** Writes the region's memory to its files. */
  flushRegion(region: Region): Promise<void>;
  /** Asks for a major compaction, which forgets what is deleted. Resolves when it is asked for, not when it is over. */
  compactRegion(region: Region): Promise<void>;
}

/** A read or an administrative call that came to nothing. */
export class HBaseFailure extends Error {
  override readonly name = 'HBaseFailure';
  /** `unavailable`: may be tried again. `refused`: a bug, a problem of the schema, no such table. */
  readonly kind: 'unavailable' | 'refused';

  constructor(kind: HBaseFailure['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
