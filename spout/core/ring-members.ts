// Who has a place on the ring: those that membership shows, once the list has been quiet for a moment, and apart from them those
// that have come and gone too often lately to be relied on.
//
// Owns the list as it counts now, the change of it that is still to settle, and the memory of who went away when.
//
// Invariants:
//   M1  A change counts `settleMs` after the last one that came with it, and at most twice as long after the first. One that is
//       taken back before never counts.
//   M2  `all` depends on the list alone, so that spouts that see the same list agree on it, however long each has been there.
//       `steady` depends on what this spout remembers besides, and others may remember something else.
//   M3  At most `maxRemembered` members are remembered as having gone: the oldest is forgotten for a new one.

import type { RingMember } from './ring.ts';

export interface RingMembersSettings {
  /** See SpoutSettings. */
  readonly settleMs: number;
  readonly firstPenaltyMs: number;
  readonly longestPenaltyMs: number;
  readonly flapMemoryMs: number;
}

/** More than the spouts of any cluster; about 100 kB. */
const maxRemembered = 1_000;

interface Pending {
  readonly firstMs: number;
  readonly lastMs: number;
}

interface Flaps {
  /** How often it went away. */
  readonly count: number;
  readonly lastMs: number;
  /** Until when it isn't steady after it came back; undefined while it is. */
  readonly heldUntilMs?: number;
}

export class RingMembers {
  readonly #settings: RingMembersSettings;
  /** Undefined until the list was seen once. */
  #settled: ReadonlyMap<string, RingMember> | undefined;
  #seen: ReadonlyMap<string, RingMember> = new Map();
  #pending: Pending | undefined;
  /** The one that went away last is the last. */
  readonly #flaps = new Map<string, Flaps>();

  constructor(settings: RingMembersSettings) {
    this.#settings = settings;
  }

  /** The list as it counts now. */
  get all(): readonly RingMember[] {
    return [...(this.#settled?.values() ?? [])];
  }

  has(processId: string): boolean {
    return this.#settled?.has(processId) === true;
  }

  /** Those of `all` that haven't come and gone too often lately. */
  get steady(): readonly RingMember[] {
    return this.all.filter(({ processId }) => this.#flaps.get(processId)?.heldUntilMs === undefined);
  }

  /**
   * The list that membership shows. Of the first one counts at once who `wasThere` before us, since the others count them;
   * where nobody was, all of it. All times are monotonic, in ms.
   */
  see(members: readonly RingMember[], wasThere: (member: RingMember) => boolean, nowMs: number): void {
    const seen = listOf(members);
    const isNews = !sameMembers(seen, this.#seen);
    this.#seen = seen;
    if (this.#settled === undefined || this.#settled.size === 0) {
      const before = members.filter(wasThere);
      this.#settled = listOf(before.length > 0 ? before : members);
    }
    if (sameMembers(seen, this.#settled)) this.#pending = undefined;
    else if (isNews) this.#pending = { firstMs: this.#pending?.firstMs ?? nowMs, lastMs: nowMs };
  }

  /** Lets count what is due: a change of the list, and that a member has been there for long enough. */
  settle(nowMs: number): void {
    for (const [processId, { count, lastMs, heldUntilMs }] of this.#flaps) {
      if (heldUntilMs !== undefined && heldUntilMs <= nowMs) this.#flaps.set(processId, { count, lastMs });
    }
    const dueMs = this.#settlesMs();
    if (dueMs === undefined || nowMs < dueMs) return;
    const before = this.#settled ?? new Map<string, RingMember>();
    for (const processId of before.keys()) if (!this.#seen.has(processId)) this.#went(processId, nowMs);
    for (const processId of this.#seen.keys()) if (!before.has(processId)) this.#came(processId, nowMs);
    this.#settled = this.#seen;
    this.#pending = undefined;
  }

  /** When `all` or `steady` changes next if the list stays as it is; undefined: not at all. */
  get nextMs(): number | undefined {
    let nextMs = this.#settlesMs();
    for (const { heldUntilMs } of this.#flaps.values()) {
      if (heldUntilMs !== undefined) nextMs = Math.min(nextMs ?? heldUntilMs, heldUntilMs);
    }
    return nextMs;
  }

  #settlesMs(): number | undefined {
    const { settleMs } = this.#settings;
    return this.#pending && Math.min(this.#pending.lastMs + settleMs, this.#pending.firstMs + 2 * settleMs);
  }

  #went(processId: string, nowMs: number): void {
    for (const [other, { lastMs }] of this.#flaps) {
      if (nowMs - lastMs < this.#settings.flapMemoryMs && this.#flaps.size < maxRemembered) break;
      this.#flaps.delete(other);
    }
    const count = (this.#flaps.get(processId)?.count ?? 0) + 1;
    this.#flaps.delete(processId);
    this.#flaps.set(processId, { count, lastMs: nowMs });
  }

  /** The first return is a restart as any; each further one costs twice the time. */
  #came(processId: string, nowMs: number): void {
    const flaps = this.#flaps.get(processId);
    const { firstPenaltyMs, longestPenaltyMs, flapMemoryMs } = this.#settings;
    if (!flaps || flaps.count < 2 || nowMs - flaps.lastMs >= flapMemoryMs) return;
    const penaltyMs = Math.min(longestPenaltyMs, firstPenaltyMs * 2 ** (flaps.count - 2));
    this.#flaps.set(processId, { ...flaps, heldUntilMs: nowMs + penaltyMs });
  }
}

/** By id; of one that is listed twice, as while its last incarnation isn't gone yet, the larger capacity. */
function listOf(members: readonly RingMember[]): ReadonlyMap<string, RingMember> {
  const list = new Map<string, RingMember>();
  for (const { processId, capacity } of members) {
    list.set(processId, { processId, capacity: Math.max(capacity, list.get(processId)?.capacity ?? 0) });
  }
  return list;
}

function sameMembers(one: ReadonlyMap<string, RingMember>, other: ReadonlyMap<string, RingMember>): boolean {
  if (one.size !== other.size) return false;
  for (const [processId, { capacity }] of one) if (other.get(processId)?.capacity !== capacity) return false;
  return true;
}
