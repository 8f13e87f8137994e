// The floor: what is left of the engine when nothing but its gRPC calls is kept. Takes items in by the same service, makes three
// calls one after the other for each, keeps nothing: node floor-process.ts MODULE_ADDRESS

import { Code, RpcError } from '../platform/rpc/error.ts';
import { implement } from '../platform/rpc/handlers.ts';
import { startServer } from '../platform/rpc/server.ts';
import { State } from '../proto/gen/weir/run/v1/run_pb.js';
import { type Item, Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import { RawCaller } from './raw-calls.ts';

const [, , moduleAddress = ''] = process.argv;
/** Items under way, as the engine's `maxRuns`; calls out, as its `concurrency`. */
const maxItems = 512;
const maxCalls = 128;

const caller = new RawCaller(moduleAddress);
const waiting: Item[] = [];
let calling = 0;
let done = 0;
let roomFor: (() => void) | undefined;

function callNext(): void {
  while (calling < maxCalls) {
    const item = waiting.shift();
    if (!item) return;
    calling++;
    caller.callThrice(item.key, item.fields[0]?.value ?? new Uint8Array()).then(ended, fail);
  }
}

function ended(): void {
  calling--;
  done++;
  if (calling + waiting.length < maxItems) roomFor?.();
  callNext();
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

const none = () => Promise.reject(new RpcError(Code.UNIMPLEMENTED, 'the floor has no runs'));

const service = implement(Runs, {
  async *submitStream(requests) {
    for await (const { items } of requests) {
      if (calling + waiting.length >= maxItems) await new Promise<void>((resolve) => (roomFor = resolve));
      waiting.push(...items);
      callNext();
      yield {
        results: items.map(({ business, flow, key }) => {
          const run = { business, flow, key, generation: 1 };
          return { result: { case: 'accepted' as const, value: { run, created: true } } };
        }),
      };
    }
  },
  summarize: () => Promise.resolve({ states: [{ state: State.SUCCEEDED, runs: BigInt(done) }] }),
  submit: none,
  get: none,
  list: none,
  cancel: none,
  retry: none,
  rewind: none,
  signal: none,
  complete: none,
  release: none,
  listAlarms: none,
});

const server = await startServer({ address: '127.0.0.1:0', services: [service], onError: fail });
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
process.send?.({ address: `127.0.0.1:${server.port}` });
