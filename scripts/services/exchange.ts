import { connect } from 'node:net';

export interface Exchange {
  readonly port: number;
  /** Sent as soon as the connection is open. */
  readonly request: Uint8Array;
  /** How long connecting and answering may take together, in milliseconds. */
  readonly timeoutMs: number;
  /** Called with all that has come so far; returns the answer when it is complete. May throw on an answer that is none. */
  readonly readAnswer: (received: Buffer) => string | undefined;
}

const maxAnswerBytes = 1024 * 1024;

/**
 * One question and its answer over a connection of its own to 127.0.0.1. Rejects when it cannot connect, the answer does
 * not come in time or is too large. Nothing of it is left open.
 */
export async function exchange(options: Exchange): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: options.port });
  try {
    return await new Promise<string>((resolve, reject) => {
      let received = Buffer.alloc(0);
      socket.once('connect', () => socket.write(options.request));
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.length > maxAnswerBytes)
          return reject(new Error(`an answer of more than ${maxAnswerBytes} bytes`));
        try {
          const answer = options.readAnswer(received);
          if (answer !== undefined) resolve(answer);
        } catch (error) {
          reject(error);
        }
      });
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('it closes the connection')));
      AbortSignal.timeout(options.timeoutMs).addEventListener('abort', () => {
        reject(new Error(`no answer within ${options.timeoutMs} ms`));
      });
    });
  } finally {
    socket.destroy();
  }
}

/** Turns a failed exchange into the words of a fault. */
export function faultOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
