// Asks a ZooKeeper whether it works: the word `ruok`, then a session that reads a node. Spoken on the wire instead of with
// a client, because a client goes on trying where a probe must give up.

import { exchange, faultOf } from '../exchange.ts';

const timeoutMs = 2000;
const sessionTimeoutMs = 4000;
const passwordBytes = 16;
const existsOperation = 3;
const closeOperation = -11;
/** Every server has this node. */
const node = '/zookeeper';

/** Returns what is wrong, or undefined. */
export async function findZooKeeperFault(port: number): Promise<string | undefined> {
  try {
    const word = await exchange({
      port,
      timeoutMs,
      request: Buffer.from('ruok'),
      readAnswer: (received) => (received.length >= 4 ? received.toString('latin1') : undefined),
    });
    if (word !== 'imok') return `ruok is answered by ${JSON.stringify(word)}`;
    const read = await exchange({ port, timeoutMs, request: sessionThatReads(), readAnswer: readResult });
    return read === '0' ? undefined : `a read of ${node} ends with error ${read}`;
  } catch (error) {
    return faultOf(error);
  }
}

// All in one go: the server handles the frames of a connection in order.
function sessionThatReads(): Buffer {
  const connect = Buffer.concat([int(0), long(0), int(sessionTimeoutMs), long(0), bytes(Buffer.alloc(passwordBytes))]);
  const read = Buffer.concat([int(1), int(existsOperation), bytes(Buffer.from(node)), Buffer.from([0])]);
  const close = Buffer.concat([int(2), int(closeOperation)]);
  return Buffer.concat([connect, read, close].map(bytes));
}

// The first frame answers the connect. The second is the read's: request number, transaction number, error.
function readResult(received: Buffer): string | undefined {
  const connected = frame(received, 0);
  if (connected === undefined) return undefined;
  const grantedMs = connected.readInt32BE(4);
  if (grantedMs <= 0) throw new Error('it refuses a session');
  const answered = frame(received, 4 + connected.length);
  return answered?.readInt32BE(12).toString();
}

function frame(received: Buffer, offset: number): Buffer | undefined {
  if (received.length < offset + 4) return undefined;
  const end = offset + 4 + received.readInt32BE(offset);
  return received.length < end ? undefined : received.subarray(offset + 4, end);
}

function int(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function long(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(value));
  return buffer;
}

function bytes(value: Buffer): Buffer {
  return Buffer.concat([int(value.length), value]);
}
