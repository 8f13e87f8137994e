// Membership where all roles live in one process.
//
// Ownership: one object for the whole process; who joins is who leaves.
//
// Invariants:
//   P1  An incarnation is in `#left` exactly when it has joined, and is not a member under any role now.

import type { Clock } from '../clock/clock.ts';
import type { Holder } from './holder.ts';
import type { Member, Membership, Role } from './membership.ts';

/** Incarnations that left and are remembered. Beyond it the oldest counts as never seen, which is as gone as one can be. */
const maxLeft = 10_000;

export class InProcessMembership implements Membership {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #members = new Map<string, Member>();
  /** When it left, by holder. */
  readonly #left = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  async join(member: Member): Promise<void> {
    this.#members.set(memberKey(member), { ...member });
    this.#left.delete(holderKey(member));
    this.#changed();
  }

  async leave(member: Member): Promise<void> {
    if (!this.#members.delete(memberKey(member))) return;
    if (!this.#isThere(member)) {
      if (this.#left.size >= maxLeft) {
        for (const oldest of this.#left.keys()) {
          this.#left.delete(oldest);
          break;
        }
      }
      this.#left.set(holderKey(member), this.#clock.monotonicMs());
    }
    this.#changed();
  }

  members(role: Role): readonly Member[] {
    return [...this.#members.values()].filter((member) => member.role === role);
  }

  watch(listener: () => void): () => void {
    // Wrapped, so that one listener given twice is called twice and taken away once.
    const watcher = () => listener();
    this.#listeners.add(watcher);
    return () => this.#listeners.delete(watcher);
  }

  /**
   * Infinity for an incarnation that never joined: the data folder is locked, so no other process lives that may hold its runs,
   * and an incarnation of before the last start is gone for good.
   */
  goneForMs(holder: Holder): number {
    if (this.#isThere(holder)) return 0;
    const leftMs = this.#left.get(holderKey(holder));
    return leftMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - leftMs;
  }

  /** There is nobody else who could take over. */
  isSafe(): boolean {
    return true;
  }

  #isThere(holder: Holder): boolean {
    for (const member of this.#members.values()) if (holderKey(member) === holderKey(holder)) return true;
    return false;
  }

  #changed(): void {
    // A copy: a listener may take itself away.
    for (const watcher of [...this.#listeners]) watcher();
  }
}

function holderKey({ processId, incarnation }: Holder): string {
  return JSON.stringify([processId, incarnation]);
}

function memberKey(member: Member): string {
  return JSON.stringify([member.role, member.processId, member.incarnation]);
}
