/** Milliseconds that calls of the services get to finish when a process stops: streams are told, everything else is short. */
export const serverGraceMs = 2_000;

/** Bytes of one answer: a run with all its fields is larger than any request. */
export const maxSendBytes = 64 * 1_048_576;
