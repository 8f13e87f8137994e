// What a role may meet that is no bug: a service that it stands on is away. The caller is to ask again, and is told which.

import type { Clock } from '../../platform/clock/clock.ts';
import { ConfigurationUnavailable } from '../../platform/coordination/configuration.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { HBaseFailure } from '../../store/hbase/client/port.ts';
import { seldom } from './seldom.ts';

/** For `ServerOptions.known`. */
export function knownFailure(thrown: unknown): RpcError | undefined {
  if (thrown instanceof ConfigurationUnavailable)
    return new RpcError(Code.UNAVAILABLE, thrown.message, { cause: thrown });
  if (thrown instanceof HBaseFailure && thrown.kind === 'unavailable') {
    return new RpcError(Code.UNAVAILABLE, `the store is unavailable: ${thrown.message}`, { cause: thrown });
  }
  return undefined;
}

/** Tells what went wrong inside a role: bugs each time, and now and then that a service is away, which all its loops meet. */
export function failureTeller(
  logger: Logger,
  clock: Pick<Clock, 'monotonicMs'>,
): (error: unknown, doing: string) => void {
  const tellAway = seldom(clock, (leftOut: number, { message }: RpcError, doing: string) =>
    logger.warn('a service is away: it is asked again', { doing, cause: message, leftOut }),
  );
  return (error, doing) => {
    const known = knownFailure(error);
    if (known) tellAway(known, doing);
    else logger.error('unexpected failure', error, { doing });
  };
}
