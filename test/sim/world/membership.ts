// Membership with sessions: whoever dies is listed until its session runs out.

import { InProcessMembership } from '../../../platform/coordination/in-process-membership.ts';
import type { Member, Membership } from '../../../platform/coordination/membership.ts';
import type { ProcessClock } from './clock.ts';
import type { VirtualTime } from './time.ts';

/** How long a process that died stays listed, in ms. */
export const sessionTimeoutMs = 5_000;

export class SimulatedMembership {
  readonly #time: VirtualTime;
  readonly #all: InProcessMembership;

  constructor(time: VirtualTime) {
    this.#time = time;
    this.#all = new InProcessMembership(time);
  }

  /** Membership as one process sees it; a dead process hears nothing, a paused one late. */
  handle(clock: ProcessClock): Membership {
    const all = this.#all;
    return {
      join: (member) => all.join(member),
      leave: (member) => all.leave(member),
      members: (role) => all.members(role),
      watch: (listener) => all.watch(() => clock.soon(listener)),
      goneForMs: (holder) => all.goneForMs(holder),
    };
  }

  /** Whether this incarnation is listed as a dispatch. */
  hasDispatch(incarnation: string): boolean {
    return this.#all.members('dispatch').some((member) => member.incarnation === incarnation);
  }

  /** The process of these members died: its session runs out. */
  died(members: readonly Member[]): void {
    this.#time.after(sessionTimeoutMs, () => {
      for (const member of members) void this.#all.leave(member);
    });
  }

  /** The process of these members is silent for a while: when that takes too long its session ends, and it makes another later. */
  silent(members: readonly Member[], durationMs: number, stillLives: () => boolean): void {
    if (durationMs <= sessionTimeoutMs) return;
    this.died(members);
    this.#time.after(durationMs, () => {
      if (stillLives()) for (const member of members) void this.#all.join(member);
    });
  }
}
