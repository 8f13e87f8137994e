import { hostname } from 'node:os';
import type { Member } from '../../platform/coordination/membership.ts';
import type { Ids } from '../../platform/ids/ids.ts';

/** What the members of one process share. */
export type Identity = Pick<Member, 'processId' | 'incarnation' | 'unit'>;

/** Who this process is. `name` stays the same over restarts where somebody gives one, so that a restarted spout keeps its shards. */
export function newIdentity(ids: Ids, unit = '', name = `${hostname()}/${process.pid}`): Identity {
  return { processId: name, incarnation: ids.next(), unit };
}
