// A process that owns a data folder and is killed: run by store-sqlite.test.ts as `node store-child.ts FOLDER PREFIX`.
// It drives runs as fast as it can and says on stdout what was answered `done`: `created KEY`, `committed KEY VERSION`.

import { writeSync } from 'node:fs';
import { openDataFolder } from '../../store/sqlite/data-folder.ts';
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { changes, control, event, execution, field, holder, id, startMs, step } from './store-fixtures.ts';

const commits = 3;
const runsAtATime = 40;

const [path = '', prefix = ''] = process.argv.slice(2);
const store = new SqliteStore(openDataFolder(path).file('runs.db'));
writeSync(1, 'open\n');

async function drive(key: string): Promise<void> {
  const run = id(key);
  const body = changes({ control: control(run), fields: { 'input/body': field(key) }, steps: { s1: step() } });
  const entries = { ready: false, leaseMs: startMs };
  await store.create({ run, writeId: `${key}-0`, changes: body, holder, entries });
  writeSync(1, `created ${key}\n`);
  await store.post(run, event('e'));
  writeSync(1, `posted ${key}\n`);
  for (let version = 1; version <= commits; version++) {
    const next = changes({ fields: { [`s${version}/out`]: field(key) }, executions: [execution(`s${version}`)] });
    const write = { run, writeId: `${key}-${version}`, expected: { epoch: 1, version }, changes: next };
    const { kind } = await store.commit(write);
    if (kind === 'done') writeSync(1, `committed ${key} ${version + 1}\n`);
  }
}

async function drivers(driver: number): Promise<void> {
  // Until the kill.
  for (let index = 0; ; index++) await drive(`${prefix}-${driver}-${index}`);
}

if (prefix !== '') await Promise.all(Array.from({ length: runsAtATime }, (_, driver) => drivers(driver)));
// With no prefix it only keeps the folder, until the kill.
else process.stdin.resume();
