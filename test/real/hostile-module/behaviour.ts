// What the hostile module does, by the row key it gets: everything before the first `#`, so that many items can share one.
//
//   code-0x40           answers with that return code, known or not
//   code-absent         answers without a code
//   rowkey-other        answers for another row key
//   rowkey-absent       answers without a row key
//   garbage             answers with bytes that are no message
//   huge                answers with 5 MB
//   two-answers         answers twice
//   no-answer           status OK without an answer
//   hang                never answers
//   late                answers after the deadline of the call
//   status-14           answers with that gRPC status, 1 to 16
//   status-14-headers   the same, after response headers
//   drop                cuts the connection
//   exit                ends the process
//
// Anything else succeeds.

export function behaviourOf(rowkey: Uint8Array): string {
  return Buffer.from(rowkey).toString('latin1').split('#', 1)[0] ?? '';
}
