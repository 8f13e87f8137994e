// A server of this test's own that is killed and frozen: what was answered `done` is there, what is doubtful is `unknown`,
// and the client recovers by itself.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startHBase } from '../../../scripts/services/instance.ts';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import type { GroupResult, HBase } from '../../../store/hbase/client/port.ts';
import { everything, fill, group, groupIf, makeTable, names, put, readAll, remove, until, valueOf } from './table.ts';

let server: Instance;
let hbase: HBase;
let table: string;
const folder = mkdtempSync(join(tmpdir(), 'weir-hbase-client-'));

beforeAll(async () => {
  server = await startHBase({ folder, masterPort: 27270, regionServerPort: 27271, zookeeperPort: 27272 });
  hbase = connectHBase({ addresses: [server.address], callTimeoutMs: 1_500, operationTimeoutMs: 60_000 });
  table = await makeTable(hbase, ['5']);
});
afterAll(async () => {
  await hbase.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Moves the index row of a run on and on; keeps what it knows of the run. */
class Mover {
  readonly kinds = new Map<GroupResult['kind'], number>();
  readonly run: string;
  version = 1;
  stopped = false;

  constructor(run: string) {
    this.run = run;
  }

  async move(): Promise<void> {
    while (!this.stopped) {
      const next = this.version + 1;
      const [result] = await hbase.mutateRows(table, [this.#group(this.version, next)]);
      this.kinds.set(result!.kind, (this.kinds.get(result!.kind) ?? 0) + 1);
      // Doubtful or not: what stands there counts. A write that was lost may still come, so it is sent again until one stands.
      if (result!.kind === 'done') this.version = next;
      else this.version = Number(valueOf(await hbase.get(table, Buffer.from(this.run))));
    }
  }

  async check(): Promise<void> {
    const index = await readAll(hbase.scan(table, this.#indexRange()));
    expect([this.run, names(index)]).toEqual([this.run, [this.#indexRow(this.version)]]);
    expect(valueOf(await hbase.get(table, Buffer.from(this.run)))).toBe(String(this.version));
  }

  #group(version: number, next: number) {
    return groupIf(
      String(version),
      put(this.run, String(next), next),
      put(this.#indexRow(next), '', next),
      remove(this.#indexRow(version), version),
    );
  }

  #indexRow(version: number): string {
    return `${this.run}/index/${String(version).padStart(8, '0')}`;
  }

  #indexRange() {
    return { startRow: Buffer.from(`${this.run}/index/`), stopRow: Buffer.from(`${this.run}/index0`) };
  }

  async begin(): Promise<void> {
    const [result] = await hbase.mutateRows(table, [
      groupIf(undefined, put(this.run, '1', 1), put(this.#indexRow(1), '', 1)),
    ]);
    expect(result).toEqual({ kind: 'done' });
  }
}

/** Moves many runs while `disturb` does its worst; then every run and its index entry must agree. */
async function moveDuring(name: string, disturb: (movers: readonly Mover[]) => Promise<void>): Promise<Mover[]> {
  const movers = Array.from({ length: 40 }, (_, index) => new Mover(`${index % 10}${name}${index}`));
  await Promise.all(movers.map((mover) => mover.begin()));
  const moving = movers.map((mover) => mover.move());
  await disturb(movers);
  for (const mover of movers) mover.stopped = true;
  await Promise.all(moving);
  for (const mover of movers) await mover.check();
  return movers;
}

const total = (movers: readonly Mover[], kind: GroupResult['kind']) =>
  movers.reduce((sum, { kinds }) => sum + (kinds.get(kind) ?? 0), 0);
/** Every run moves on from where it is now. */
const allMove = (movers: readonly Mover[]) => {
  const before = movers.map(({ version }) => version);
  return until(() => movers.every(({ version }, index) => version > before[index]! + 3));
};

describe('a region server', () => {
  it('that is killed and started again loses nothing that was done, tears no group', async () => {
    const movers = await moveDuring('killed', async (movers) => {
      await allMove(movers);
      await server.kill();
      await server.restart();
      await allMove(movers);
    });
    expect(total(movers, 'done')).toBeGreaterThan(0);
    expect(total(movers, 'refused')).toBe(0);
  });

  it('that is killed under a scan: the scan goes on behind the last row it gave', async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => `6scan${String(index).padStart(5, '0')}`);
    await fill(
      hbase,
      table,
      rows.map((row) => put(row, 'x')),
    );
    const range = { startRow: Buffer.from('6scan'), stopRow: Buffer.from('6scao'), batch: 500 };
    const scanner = hbase.scan(table, range);
    const seen = [...(await scanner.next())];
    await server.kill();
    const rest = (async () => {
      for (let more = await scanner.next(); more.length > 0; more = await scanner.next()) seen.push(...more);
    })();
    await server.restart();
    await rest;
    expect(names(seen)).toEqual(rows);
    expect(scanner.restarts).toBe(1);
  });

  it('that is frozen: writes become unknown in their time, and all goes on after it thaws', async () => {
    const movers = await moveDuring('frozen', async (movers) => {
      await allMove(movers);
      server.freeze();
      try {
        await until(() => total(movers, 'unknown') >= movers.length / 2);
      } finally {
        server.thaw();
      }
      await allMove(movers);
    });
    expect(total(movers, 'refused')).toBe(0);
  });

  it('that is away: writes are not sent, reads unavailable, each when its time is over', async () => {
    const hasty = connectHBase({ addresses: [server.address], operationTimeoutMs: 500 });
    await server.kill();
    const [result] = await hasty.mutateRows(table, [group(put('1away', 'x'))]);
    expect(result).toMatchObject({
      kind: 'notSent',
      cause: expect.stringContaining("can't find the place of hbase:meta"),
    });
    await expect(hasty.get(table, Buffer.from('1away'))).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(hasty.scan(table, everything).next()).rejects.toMatchObject({ kind: 'unavailable' });
    await server.restart();
    await until(async () => (await hasty.mutateRows(table, [group(put('1away', 'y', 2))]))[0]?.kind === 'done');
    await hasty.close();
  });
});
