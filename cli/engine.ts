// The engine as commands talk to it.

import type { DescService } from '@bufbuild/protobuf';
import { type Client, type ConnectOptions, connect } from '../platform/rpc/client.ts';
import { Code, RpcError } from '../platform/rpc/error.ts';
import { CommandFailure, exitCodes } from './failure.ts';

/** Milliseconds that one question may take: summaries read every execution of a flow. */
export const callOptions = { timeoutMs: 60_000 } as const;

/** Bytes of one answer: a run with all its fields is larger than any request. */
const maxReceiveBytes = 64 * 1_048_576;

/**
 * Asks a service of the engine. Its failures become CommandFailures; the channel is closed in any case. Ctrl-C meanwhile ends the
 * process: a question leaves nothing behind.
 */
export async function askEngine<S extends DescService, Answer>(
  service: S,
  address: string,
  ask: (client: Client<S>) => Promise<Answer>,
  options: ConnectOptions = {},
): Promise<Answer> {
  const client = connect(service, address, { maxReceiveBytes, ...options });
  process.once('SIGINT', interrupted);
  try {
    return await ask(client);
  } catch (error) {
    throw error instanceof RpcError ? failureOf(error, address) : error;
  } finally {
    process.off('SIGINT', interrupted);
    client.close();
  }
}

function interrupted(): never {
  process.exit(exitCodes.interrupted);
}

function failureOf(error: RpcError, address: string): CommandFailure {
  if (error.origin === 'unsent') {
    const message = `no engine answers at ${address}: start one with 'weir up', or name another with --address`;
    return new CommandFailure(exitCodes.failed, message, error);
  }
  if (error.origin === 'lost') {
    return new CommandFailure(exitCodes.failed, `the engine at ${address} has gone before it answered`, error);
  }
  if (error.code === Code.UNIMPLEMENTED) {
    return new CommandFailure(
      exitCodes.failed,
      `what answers at ${address} is not the engine of this Weir: ${error.message}`,
      error,
    );
  }
  const exitCode = error.code === Code.INVALID_ARGUMENT ? exitCodes.usage : exitCodes.failed;
  return new CommandFailure(exitCode, error.message, error);
}
