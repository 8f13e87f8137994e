// What an exception of the server means for the call that it answers. The one place that knows HBase's class names.

/** An exception as it came over the wire. */
export interface ServerException {
  /** Without package: `NotServingRegionException`. */
  readonly className: string;
  /** The first line of the stack trace. */
  readonly message: string;
}

/**
 * - `elsewhere`: the region or role is not at this server (any more). Nothing was applied: look it up again.
 * - `later`: the server is too busy. Nothing was applied: the same again after a pause.
 * - `atOnce`: the rest of a large answer has to be asked for separately. Nothing was applied.
 * - `reopen`: the server has lost the scanner.
 * - `refused`: trying again doesn't mend it. Nothing was applied.
 * - `unclear`: whatever isn't listed. It may have been applied (a failed sync of the log, say).
 */
export type Reaction = 'elsewhere' | 'later' | 'atOnce' | 'reopen' | 'refused' | 'unclear';

const reactions = new Map<string, Reaction>([
  ...list('elsewhere', [
    'NotServingRegionException',
    'RegionMovedException',
    'RegionOpeningException',
    'RegionOfflineException',
    'WrongRegionException',
    'RegionServerStoppedException',
    'RegionServerAbortedException',
    'ServerNotRunningYetException',
    'MasterNotRunningException',
    'MasterStoppedException',
    'PleaseHoldException',
  ]),
  ...list('later', [
    'CallQueueTooBigException',
    'CallDroppedException',
    'RegionTooBusyException',
    'RpcThrottlingException',
    'ServerTooBusyException',
  ]),
  ...list('atOnce', ['MultiActionResultTooLarge', 'RetryImmediatelyException']),
  ...list('reopen', [
    'UnknownScannerException',
    'OutOfOrderScannerNextException',
    'ScannerResetException',
    'LeaseException',
    'FileNotFoundException',
  ]),
  // An answer to a single call says whether to give up (`do_not_retry`); an answer within a Multi has the name only.
  ...list('refused', [
    'DoNotRetryIOException',
    'NoSuchColumnFamilyException',
    'UnknownProtocolException',
    'WrongRowIOException',
    'RowTooBigException',
    'FailedSanityCheckException',
    'RequestTooBigException',
    'InvalidFamilyOperationException',
    'AccessDeniedException',
    'CorruptHFileException',
    'TableNotFoundException',
    'TableNotEnabledException',
    'TableNotDisabledException',
    'TableExistsException',
    'NamespaceNotFoundException',
    'UnknownRegionException',
  ]),
]);

/** `doNotRetry` is the server's word where it gives one. */
export function reactionTo(exception: ServerException, doNotRetry = false): Reaction {
  return reactions.get(exception.className) ?? (doNotRetry ? 'refused' : 'unclear');
}

export function serverException(qualifiedName: string, stackTrace: string): ServerException {
  const className = qualifiedName.slice(Math.max(qualifiedName.lastIndexOf('.'), qualifiedName.lastIndexOf('$')) + 1);
  const [firstLine = ''] = stackTrace.split('\n', 1);
  return { className, message: firstLine.slice(0, maxMessageCharacters) };
}

/** For messages to people. */
export function describe(exception: ServerException): string {
  return exception.message.includes(exception.className)
    ? exception.message
    : `${exception.className}: ${exception.message}`;
}

/** Where a moved region is now, `host:port`, when the exception says so. */
export function movedTo(exception: ServerException): string | undefined {
  if (exception.className !== 'RegionMovedException') return undefined;
  const found = /hostname=([\w.-]+) port=(\d{1,5})/.exec(exception.message);
  return found ? `${found[1]}:${found[2]}` : undefined;
}

const maxMessageCharacters = 500;

function list(reaction: Reaction, classNames: readonly string[]): Array<[string, Reaction]> {
  return classNames.map((className) => [className, reaction]);
}
