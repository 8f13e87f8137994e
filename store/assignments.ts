// The port to the memory of routing: which flow an item was given that named none. A run is named by its flow, so an item that is
// sent again after a time-out must come to the flow it had the first time, whatever the routes say by then; otherwise it would be
// processed twice. Adapters: memory, sqlite, hbase. One suite holds for all (test/contract/assignments.contract.ts).
//
// Promises of an adapter:
//   A1  The first flow that is stored for an item stays: every later answer names it.
//   A2  What was answered `done` survives the death of the process.
//   A3  `unknown` means: it may have been stored, or may be stored later. Whoever asks again gets the answer that stands.

export type AssignResult =
  /** `flow` is the one that stands: the one given, or that of somebody who was first. */
  { readonly kind: 'done'; readonly flow: string } | { readonly kind: 'unknown'; readonly cause: string };

export interface Assignments {
  /** The flow that an item was given; undefined when it was never routed. */
  assigned(business: string, itemKey: Uint8Array): Promise<string | undefined>;
  /** Keeps `flow` for an item that has none yet. */
  assign(business: string, itemKey: Uint8Array, flow: string): Promise<AssignResult>;
}
