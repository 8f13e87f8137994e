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
  /** The data centre or cloud it belongs to; empty where there is only one. */
  readonly unit: string;
  /** What it can take beside others of its role, from 1: of a dispatch, runs at once; of a spout, its weight when shards are divided. */
  readonly capacity: number;
}

export interface Membership {
  /** Resolves when others can see the member. */
  join(member: Member): Promise<void>;
  leave(member: Member): Promise<void>;
  members(role: Role): readonly Member[];
  /** Calls `listener` after each change of the members or of `isSafe`, until the answer is called. */
  watch(listener: () => void): () => void;
  /** For how long this incarnation has been gone, in ms; 0 while it is there. */
  goneForMs(holder: Holder): number;
  /**
   * The others surely still see what this process has joined as. Not so: they may be taking over from it, so that it begins nothing
   * new; what it has begun goes on.
   */
  isSafe(): boolean;
}
