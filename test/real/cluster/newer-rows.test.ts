// Rows and nodes as a newer version has written them: this one works with them, and what it doesn't know is still there afterwards.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, it, onTestFinished } from 'vitest';
import { runId } from '../../../flow/run-id.ts';
import { ZooKeeperConfiguration } from '../../../platform/coordination/zookeeper/zookeeper-configuration.ts';
import { ReleaseHistorySchema } from '../../../proto/gen/weir/flow/v1/releases_pb.js';
import { ControlSchema, InboxEventSchema, StepCellSchema } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import type { Cell, HBase } from '../../../store/hbase/client/port.ts';
import { family } from '../../../store/hbase/columns.ts';
import { openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import { RunKeys } from '../../../store/hbase/row-key.ts';
import { openSession } from '../zookeeper/fixture.ts';
import { type Cluster, makeCluster, startRoles } from './cluster.ts';
import { becomes } from './conditions.ts';
import { hasNovelty, isNew, novelty, renewed } from './novelty.ts';
import { business, flowText, moduleName } from './work-flow.ts';

const waiting = 'waiting';
const call = `call: ${moduleName}, send: [text], receive: [upper]`;
/** Between its steps nobody holds its run. */
const waitingText = `{ flow: ${waiting}, business: ${business}, steps: {
  work: { ${call} }, approval: { after: [work], wait: { signal: approved, timeout: 1h } }, last: { after: [approval], ${call} } } }`;

/** Of the run of a key: its cells of protobuf messages by qualifier. */
async function cellsOf(hbase: HBase, { table, shards }: Cluster, key: string): Promise<ReadonlyMap<string, Cell>> {
  const row = await hbase.get(table, rowOf(key, shards));
  return new Map(row?.cells.map((cell) => [cell.qualifier.toString(), cell]));
}

const idOf = (key: string) => runId({ business, flow: waiting, itemKey: Buffer.from(key), generation: 1 });
const rowOf = (key: string, shards: number) => new RunKeys(idOf(key), shards).row;

it('fields of run rows that this version does not know survive its rewriting, events of unknown kinds do no harm', async () => {
  const cluster = await makeCluster();
  const { dispatch } = await startRoles(cluster, ['spout-1']);
  const { client } = dispatch;
  const hbase = connectHBase({ addresses: [cluster.services.hbase] });
  onTestFinished(() => hbase.close());
  await client.publish(waitingText);
  expect(await client.submit(['a'], waiting)).toEqual(['accepted']);
  const before = await becomes('the run waits, and nobody holds it', async () => {
    const cells = await cellsOf(hbase, cluster, 'a');
    return cells.has('.s/approval') && cells.get('.holder')?.value.length === 0 && cells;
  });
  const names = ['.control', '.s/work', '.s/approval'];
  const row = rowOf('a', cluster.shards);
  // With the timestamp that they have: later puts of this version come after them.
  const mutations = names.map((name) => {
    const { qualifier, value, timestamp } = before.get(name) ?? fail(name);
    return { kind: 'put' as const, row, family, timestamp, cells: [{ qualifier, value: renewed(value) }] };
  });
  expect(await hbase.mutateRows(cluster.table, [{ row, mutations, conditions: [] }])).toEqual([{ kind: 'done' }]);
  const store = await openHBaseStore({ hbase, table: cluster.table });
  const unknownKind = create(InboxEventSchema, { id: 'newer', arrivedMs: BigInt(Date.now()) });
  unknownKind.$unknown = novelty;
  await store.post(idOf('a'), unknownKind);
  await client.signal('a', 'approved', waiting);
  await becomes('the run succeeds', async () => (await client.outcomes(waiting)).get('a') === 'SUCCEEDED A');
  const after = await cellsOf(hbase, cluster, 'a');
  for (const name of names) {
    const schema = name === '.control' ? ControlSchema : StepCellSchema;
    expect(hasNovelty(schema, after.get(name)?.value ?? fail(name)), name).toBe(true);
  }
  expect(after.get('.s/approval')?.timestamp).toBeGreaterThan(before.get('.s/approval')?.timestamp ?? 0);
  expect(dispatch.lines.filter((line) => line.includes('unexpected'))).toEqual([]);
});

it('fields of releases that this version does not know survive its own release', async () => {
  const cluster = await makeCluster();
  const { dispatch } = await startRoles(cluster, ['spout-1']);
  const session = openSession({ root: cluster.root });
  await session.connected(10_000);
  let number = 0;
  const configuration = new ZooKeeperConfiguration({
    session,
    newId: () => `test-${number++}`,
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  onTestFinished(() => configuration.close());
  const path = 'flows/work/releases';
  const entry = (await configuration.get(path)) ?? fail(path);
  const history = fromBinary(ReleaseHistorySchema, entry.value);
  for (const release of history.releases) release.$unknown = novelty;
  const renewedHistory = toBinary(ReleaseHistorySchema, history);
  expect(await configuration.put(path, renewedHistory, entry.version)).toMatchObject({ kind: 'done' });
  expect(await dispatch.client.publish(flowText('work', '20m'))).toBe(2);
  await dispatch.client.submitSurely(['a']);
  await dispatch.client.allSucceed(['a']);
  const after = (await configuration.get(path)) ?? fail(path);
  expect(after.version).toBeGreaterThan(entry.version + 1);
  expect(fromBinary(ReleaseHistorySchema, after.value).releases.map(isNew)).toEqual([true, false]);
});

function fail(what: string): never {
  throw new Error(`there is no ${what}`);
}
