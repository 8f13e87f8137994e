// Calls by address, as `weir up --callback-hosts` allows them.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { freePort } from '../../../dispatch/modules/free-port.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { named, startFamilyWorld } from './family-world.ts';

const flow = (name: string, port: number) => `
flow: ${name}
business: test
steps: { only: { call: test.work, send: [text], receive: [out] } }
on_exit: [{ when: [SUCCEEDED], url: 'http://127.0.0.1:${port}/ended', send: [out], retry: { tries: 1 } }]
`;

it('a listed host hears of the end; another one does not, which changes no outcome', async () => {
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.end();
    });
  });
  const [port, other] = [await freePort(), await freePort()];
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const world = await startFamilyWorld([flow('listed', port), flow('unlisted', other)], `127.0.0.1:${port}`);
  await world.submit('listed', 'a');
  await world.submit('unlisted', 'b');
  await world.untilState(named('listed', 'a'), State.SUCCEEDED);
  const unheard = await world.untilState(named('unlisted', 'b'), State.SUCCEEDED);
  await world.close();
  server.close();
  const fields = { out: Buffer.from('TEXT').toString('base64') };
  expect(received).toMatchObject([{ callKey: '1/test/listed/a/exit/0/1', step: 'exit/0', flow: 'listed', fields }]);
  expect(unheard.steps.find(({ id }) => id === 'exit/0')?.cell?.message).toContain('--callback-hosts');
});
