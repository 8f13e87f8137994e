import { setTimeout as pause } from 'node:timers/promises';
import { Client, credentials } from '@grpc/grpc-js';

// The answer of grpc.health.v1.Health/Check that says SERVING: field 1, varint, value 1. Its request has no field set.
const serving = Buffer.from([0x08, 0x01]);
const pollMs = 100;
const askTimeoutMs = 1_000;

/**
 * Waits until the server at `address` says that it serves. False when it does not within `timeoutMs`, or `signal` aborts.
 */
export async function untilServing(address: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const client = new Client(address, credentials.createInsecure(), {
    // The servers are local and about to start: the pauses grpc-js makes after a refused connection would be the longest wait.
    'grpc.initial_reconnect_backoff_ms': pollMs,
    'grpc.max_reconnect_backoff_ms': pollMs,
  });
  try {
    for (const end = performance.now() + timeoutMs; performance.now() < end && !signal.aborted; ) {
      if (await isServing(client)) return true;
      await pause(pollMs);
    }
    return false;
  } finally {
    client.close();
  }
}

function isServing(client: Client): Promise<boolean> {
  const same = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      same,
      same,
      Buffer.alloc(0),
      { deadline: Date.now() + askTimeoutMs },
      (error, answer) => resolve(error === null && answer?.equals(serving) === true),
    );
  });
}
