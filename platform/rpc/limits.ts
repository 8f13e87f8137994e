/**
 * Bytes of one message in either direction unless an option says otherwise. The fields of an item may hold 4 MiB together;
 * the slack is for what travels with them: keys, call metadata, framing.
 */
export const defaultMaxMessageBytes = 4 * 1024 * 1024 + 64 * 1024;

/**
 * Calls that one connection may have open at a server; more wait at the client. Above every concurrency limit that
 * answers by itself (so that a caller hears "overloaded" instead of waiting), low enough to bound memory.
 */
export const defaultMaxConcurrentCalls = 1_024;

/** The largest time that a timer of Node and the `grpc-timeout` of grpc-js both carry without overflow: 24.8 days. */
export const maxTimeoutMs = 2 ** 31 - 1;
