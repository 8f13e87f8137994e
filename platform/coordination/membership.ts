// The port to membership: which processes of which role are there.

import type { Holder } from './holder.ts';

export type Role = 'spout' | 'dispatch';

export interface Member {
  readonly role: Role;
  readonly processId: string;
  /** New for each start of the process. */
  readonly incarnation: string;
  /** `host:port` of its gRPC server; empty inside one process. */
  readonly address: string;
}

export interface Membership {
  /** Resolves when others can see the member. */
  join(member: Member): Promise<void>;
  leave(member: Member): Promise<void>;
  members(role: Role): readonly Member[];
  /** Calls `listener` after each change, until the answer is called. */
  watch(listener: () => void): () => void;
  /** For how long this incarnation has been gone, in ms; 0 while it is there. */
  goneForMs(holder: Holder): number;
}
