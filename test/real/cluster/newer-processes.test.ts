// A dispatch and a spout of a newer version beside ours: what they say of themselves and to ours has fields and messages that ours
// doesn't know.

import { create } from '@bufbuild/protobuf';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../platform/rpc/client.ts';
import { implement } from '../../../platform/rpc/handlers.ts';
import { startServer } from '../../../platform/rpc/server.ts';
import {
  Feed,
  type FromDispatch,
  FromDispatchSchema,
  type FromSpout,
  FromSpoutSchema,
} from '../../../proto/gen/weir/feed/v1/feed_pb.js';
import { openSession } from '../zookeeper/fixture.ts';
import { type Cluster, makeCluster, startRoles } from './cluster.ts';
import { becomes } from './conditions.ts';
import { novelty } from './novelty.ts';

const newerAddress = '127.0.0.1:27118';

/** Puts a node below the cluster's root, as a newer process does: until the test has finished. */
async function announce({ root }: Cluster, folder: string, name: string, fields: object): Promise<void> {
  const session = openSession({ root });
  await session.connected(10_000);
  const data = Buffer.from(JSON.stringify(fields));
  const answer = await session.change([{ kind: 'create', path: `${folder}/${name}`, data, mode: 'ephemeral' }]);
  expect(answer).toMatchObject({ kind: 'done' });
}

function unknownToSpout(): FromDispatch {
  const message = create(FromDispatchSchema, {});
  message.$unknown = novelty;
  return message;
}

function unknownToDispatch(): FromSpout {
  const message = create(FromSpoutSchema, {});
  message.$unknown = novelty;
  return message;
}

it('a newer dispatch is offered runs, a newer spout is told what ours can take', async () => {
  const cluster = await makeCluster({ maxRuns: 1 });
  const { dispatch, spouts } = await startRoles(cluster, ['spout-1']);
  const heard: FromSpout[] = [];
  const served = await startServer({
    address: newerAddress,
    services: [
      implement(Feed, {
        connect: async function* (requests) {
          yield unknownToSpout();
          const credits = { runs: 100, bytes: 1_000_000n, heard: 0n, $unknown: novelty };
          yield { message: { case: 'credits' as const, value: credits }, $unknown: novelty };
          yield unknownToSpout();
          for await (const request of requests) heard.push(request);
        },
      }),
    ],
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(async () => void (await served.stop(0)));
  const newer = { role: 'dispatch', processId: 'newer', address: newerAddress, unit: '', capacity: 100, novelty: [7] };
  await announce(cluster, '/members/dispatch', 'newer', { form: 1, ...newer, incarnation: 'one' });
  // What means something else has another form: it is left out.
  await announce(cluster, '/members/dispatch', 'newest', { form: 2, ...newer, incarnation: 'two' });

  cluster.module.hold();
  const keys = ['a', 'b', 'c'];
  await dispatch.client.submitSurely(keys);
  await becomes('it is offered one of them', () => heard.some(({ message }) => message.case === 'offer'));

  const link = connect(Feed, '127.0.0.1:27110').connect();
  await link.send(unknownToDispatch());
  await link.send(
    create(FromSpoutSchema, { message: { case: 'hello', value: { spoutId: 'newer', incarnation: 'one' } } }),
  );
  await link.send(unknownToDispatch());
  let told: string | undefined;
  for await (const { message } of link.responses) {
    told = message.case;
    break;
  }
  expect(told).toBe('credits');
  link.cancel();

  await served.stop(0);
  cluster.module.letGo();
  await dispatch.client.allSucceed(keys);
  const all = [dispatch, ...spouts.values()];
  expect(all.map(({ isRunning }) => isRunning)).toEqual([true, true]);
  expect(all.flatMap(({ lines }) => lines).filter((line) => line.includes('unexpected'))).toEqual([]);
  expect(all.every(({ lines }) => lines.some((line) => line.includes('its form is 2, known is 1')))).toBe(true);
});
