import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { IndexKind, ScanPosition } from '../port.ts';
import { type RunId } from '../run-name.ts';
import { put } from './cells.ts';
import { column, encodeIndexValue } from './columns.ts';
import { HBaseFixture } from './hbase-fixture.ts';
import { IndexScanner } from './index-scanner.ts';
import { RunKeys } from './row-key.ts';

const shards = 1;
const runs = Array.from({ length: 10 }, (_, index) => `1/b/f/${index}` as RunId);

let hbase: HBaseFixture;
let clock: ManualClock;

beforeEach(() => {
  hbase = new HBaseFixture();
  clock = new ManualClock();
});

function scannerWith(options: { maxOpen?: number } = {}): IndexScanner {
  const { maxOpen = 8 } = options;
  return new IndexScanner({
    ...{ hbase, clock, maxOpen, shards },
    table: 'weir',
    idleMs: 1_000,
    maxHiddenMs: 60_000,
    quickMs: 20,
  });
}

async function write(rows: readonly Buffer[]): Promise<void> {
  const value = {
    fence: { epoch: 0, version: 1 },
    state: State.OPEN,
    ready: true,
    level: 5,
    order: 1,
    inputBytes: 0,
    holder: new Uint8Array(),
  };
  const mutations = rows.map((row) => put(row, 2, [[column.value, encodeIndexValue(value)]]));
  await hbase.mutateRows('weir', [{ row: rows[0] ?? Buffer.of(0), conditions: [], mutations }]);
}

const readyRows = (some: readonly RunId[]) => some.map((run, index) => new RunKeys(run, shards).ready(5, index + 1));

async function page(scanner: IndexScanner, limit: number, after?: ScanPosition, kind: IndexKind = 'ready') {
  const { hits, next } = await scanner.scan({ shard: 0, kind, limit, ...(after !== undefined && { after }) });
  return { runs: hits.map(({ run }) => run), next };
}

describe('a walk', () => {
  it('sees what was there at its beginning, page by page', async () => {
    await write(readyRows(runs));
    const scanner = scannerWith();
    const first = await page(scanner, 4);
    await write(readyRows(['1/b/f/late' as RunId, ...runs]).slice(0, 1));
    const second = await page(scanner, 4, first.next);
    const third = await page(scanner, 4, second.next);
    expect([...first.runs, ...second.runs, ...third.runs]).toEqual(runs);
    expect(third.next).toBeUndefined();
  });

  it('that was given up for others goes on behind the last row', async () => {
    await write(readyRows(runs));
    const scanner = scannerWith({ maxOpen: 1 });
    const one = await page(scanner, 4);
    const other = await page(scanner, 7);
    expect((await page(scanner, 100, one.next)).runs).toEqual(runs.slice(4));
    expect((await page(scanner, 100, other.next)).runs).toEqual(runs.slice(7));
  });

  it('that nobody comes back for is given up, and can be taken up all the same', async () => {
    await write(readyRows(runs));
    const scanner = scannerWith();
    const first = await page(scanner, 4);
    const before = hbase.calls.scan;
    await clock.advance(1_000);
    expect((await page(scanner, 100, first.next)).runs).toEqual(runs.slice(4));
    expect(hbase.calls.scan).toBeGreaterThan(before);
  });

  it('may be asked for one page twice', async () => {
    await write(readyRows(runs));
    const scanner = scannerWith();
    const first = await page(scanner, 4);
    const [one, again] = await Promise.all([page(scanner, 3, first.next), page(scanner, 3, first.next)]);
    expect(one.runs).toEqual(again.runs);
  });

  it('of one kind is no place in another', async () => {
    await write(readyRows(runs));
    const scanner = scannerWith();
    const first = await page(scanner, 4);
    await expect(page(scanner, 4, first.next, 'timer')).rejects.toThrow(RangeError);
  });
});

describe('in a shard that is slow', () => {
  /** Each scan takes 100 ms of the clock. */
  function slow(): void {
    const scan = hbase.scan.bind(hbase);
    hbase.scan = (table, options) => {
      const scanner = scan(table, options);
      return { ...scanner, next: async () => (await clock.advance(100), scanner.next()) };
    };
  }

  it('an entry of another process is found within fifty times what a scan takes', async () => {
    await write(readyRows(runs).slice(5));
    slow();
    const scanner = scannerWith();
    await page(scanner, 100);
    await page(scanner, 100);
    await write(readyRows(runs).slice(0, 5));
    expect((await page(scanner, 100)).runs).toEqual(runs.slice(5));
    await clock.advance(10_000);
    expect((await page(scanner, 100)).runs).toEqual(runs);
  });

  it('one of this process is found at once', async () => {
    await write(readyRows(runs).slice(5));
    slow();
    const scanner = scannerWith();
    await page(scanner, 100);
    await page(scanner, 100);
    scanner.noteWritten(readyRows(runs).slice(0, 5));
    await write(readyRows(runs).slice(0, 5));
    expect((await page(scanner, 100)).runs).toEqual(runs);
  });
});
