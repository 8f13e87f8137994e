// What a service of ours may meet that is no bug: a service that it stands on is away. The caller is to ask again, and is told which.

import { ConfigurationUnavailable } from '../../platform/coordination/configuration.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { HBaseFailure } from '../../store/hbase/client/port.ts';

/** For `ServerOptions.known`. */
export function knownFailure(thrown: unknown): RpcError | undefined {
  if (thrown instanceof ConfigurationUnavailable)
    return new RpcError(Code.UNAVAILABLE, thrown.message, { cause: thrown });
  if (thrown instanceof HBaseFailure && thrown.kind === 'unavailable') {
    return new RpcError(Code.UNAVAILABLE, `the store is unavailable: ${thrown.message}`, { cause: thrown });
  }
  return undefined;
}
