// The mails of the example, on one machine and on the cluster: the same outcomes and verdicts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import { openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import type { Store } from '../../../store/port.ts';
import { SqliteStore } from '../../../store/sqlite/sqlite-store.ts';
import { allRuns } from '../chaos/stored-runs.ts';
import { makePlaces, sharedServices } from './cluster.ts';

const mails = 300;
const start = fileURLToPath(new URL('../../../examples/mail/start.ts', import.meta.url));

interface Report {
  readonly items: number;
  readonly byState: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** `npm start -- --exit --json --limit …` with its data in a folder of its own. */
async function example(data: string, more: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Report> {
  const options = ['--exit', '--json', '--limit', String(mails), '--data', data, ...more];
  const child = spawn(process.execPath, [start, ...options], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect(code, errors).toBe(0);
  return JSON.parse(output) as Report;
}

/** By key, the state and whatever the steps have said of the mail, the verdict among it. */
async function outcomes(store: Store): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for await (const { run } of allRuns(store)) {
    const { itemKey, status } = run.control;
    const outputs = [...run.fields].filter(([path]) => !path.startsWith('input/'));
    const said = outputs.map(([path, { bytes }]) => `${path}: ${Buffer.from(bytes).toString()}`).sort();
    found.set(Buffer.from(itemKey).toString(), [State[status.state] ?? '', ...said]);
  }
  return found;
}

it('have the same verdicts on one machine and on the cluster', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-mails-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const single = await example(join(folder, 'single'), []);
  // A table and a root of this test's own: whoever has tried the example here keeps what is there.
  const { table, root } = await makePlaces(sharedServices, onTestFinished);
  const cluster = await example(join(folder, 'cluster'), ['--cluster'], {
    WEIR_HBASE_TABLE: table,
    WEIR_ZOOKEEPER_ROOT: root,
  });
  console.log(`${mails} mails: ${single.seconds} s on one machine, ${cluster.seconds} s on the cluster`);
  expect(cluster).toMatchObject({ items: mails, byState: single.byState });

  const sqlite = new SqliteStore(join(folder, 'single', 'runs.db'));
  onTestFinished(() => sqlite.close());
  const hbase = connectHBase({ addresses: [sharedServices.hbase] });
  onTestFinished(() => hbase.close());
  const expected = await outcomes(sqlite);
  expect(expected.size).toBe(mails);
  expect([...expected.values()].every((said) => said.some((each) => each.includes('/verdict: ')))).toBe(true);
  expect(await outcomes(await openHBaseStore({ hbase, table }))).toEqual(expected);
});
