// The runs that this process holds or is about to claim.
//
// Owns the table of held runs, the queue of offers, and the locks of the runs it claimed (claim-locks.ts).
//
// Invariants:
//   T1  A run is at most once in `#held`, in the queue, under claim or being created.
//   T2  What is in any of them has a place in the room; offers of spouts that overran their credits are declined.
//   T3  While draining nothing is taken; what is held leaves.

import type { Effect } from '../../flow/effect.ts';
import type { Context } from '../../flow/event.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Holder, Run, RunId } from '../../flow/run.ts';
import { printableRun } from '../../flow/run-id.ts';
import type { Member } from '../../platform/coordination/membership.ts';
import type { InboxEvent } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence, PostResult } from '../../store/port.ts';
import { ReadyQueue } from '../core/ready-queue.ts';
import type { DispatchSettings } from '../settings.ts';
import { claim } from './claim.ts';
import { ClaimLocks } from './claim-locks.ts';
import type { Errands } from './errand.ts';
import { HeldRun, type Parting, type RunKeeper } from './held-run.ts';
import type { DispatchPorts } from './ports.ts';
import { Room } from './room.ts';

/** For how long a spout leaves a run that was claimed to its holder, in ms: see `askAfterMs` in the protocol, section 2. */
const askAfterMs = 10_000;

export interface OfferedRun {
  readonly run: RunId;
  /** As the spout saw it. */
  readonly fence: Fence;
  readonly level: number;
  readonly bytes: number;
  /** Called once. */
  readonly settled: (how: Settled) => void;
}

/**
 * `taken`: the run was claimed. `gone`: there is nothing to take here any more. Or another process has the run's lock, for so many ms
 * at most: it may give it back before.
 */
export type Settled = 'taken' | 'gone' | { readonly busyForMs: number };

const noErrands: Errands = {
  start: () => missing(),
  tell: () => missing(),
};

function missing(): never {
  throw new Error('invariant: a run was taken before there was anybody to do its errands');
}

export class Holding implements RunKeeper {
  readonly ports: DispatchPorts;
  readonly settings: DispatchSettings;
  readonly room: Room;
  /** Set once, before anything is taken: whoever does errands creates runs, which are then held here. */
  errands: Errands = noErrands;
  readonly #self: Member;
  readonly #held = new Map<RunId, HeldRun>();
  readonly #queue = new ReadyQueue<OfferedRun>();
  readonly #pending = new Set<RunId>();
  readonly #locks: ClaimLocks;
  #claiming = 0;
  #draining: 'no' | 'when idle' | 'now' = 'no';
  #emptied: (() => void) | undefined;

  constructor(self: Member, ports: DispatchPorts, settings: DispatchSettings) {
    this.#self = self;
    this.ports = ports;
    this.settings = settings;
    this.room = new Room(ports.clock, settings);
    this.#locks = new ClaimLocks(self.incarnation, ports, settings);
  }

  get context(): Context {
    const { clock, random } = this.ports;
    return { nowMs: clock.nowMs(), random, endingDeadlineMs: this.settings.endingDeadlineMs };
  }

  waitsAtOrBefore(level: number): boolean {
    return this.#queue.waitsAtOrBefore(level);
  }

  get(run: RunId): HeldRun | undefined {
    return this.#held.get(run);
  }

  /** Puts an event into a run's inbox and tells its holder, when that is this process; a spout finds the others. */
  async post(run: RunId, event: InboxEvent): Promise<PostResult> {
    const { store, onError } = this.ports;
    const posted = await store.post(run, event);
    // The event is durable: a nudge that fails is made good by the spout, which finds the event in the index.
    const nudged = this.#held.get(run)?.nudge();
    nudged?.catch((error: unknown) => onError(error, 'reading an inbox'));
    return posted;
  }

  /** Who claims now, and until when others leave the run to it. */
  claimant(): { readonly holder: Holder; readonly leaseMs: number } {
    const { processId, incarnation } = this.#self;
    const claimedMs = this.ports.clock.nowMs();
    return { holder: { processId, incarnation, claimedMs }, leaseMs: claimedMs + askAfterMs };
  }

  /** Takes an offer into the queue. */
  offer(offer: OfferedRun): 'queued' | 'known' | 'no room' {
    // Offered at a newer claim than ours: ours was overtaken while nobody told us.
    this.#held.get(offer.run)?.overtakenBy(offer.fence);
    if (this.#isHere(offer.run)) return 'known';
    if (!this.room.take(offer.bytes)) return 'no room';
    this.#pending.add(offer.run);
    this.#queue.push(offer.level, offer);
    this.#claimNext();
    return 'queued';
  }

  /** A place for a run that is being created; calling the answer gives it back. Undefined: no room. */
  reserve(run: RunId, bytes: number): (() => void) | undefined {
    if (this.#isHere(run) || !this.room.take(bytes)) return undefined;
    this.#pending.add(run);
    return () => this.#unreserve(run, bytes);
  }

  /** Keeps a run whose claim, or creation as claimed, was accepted. Its caller gives back the place it had until now. */
  keep(plan: Plan, run: Run, fence: Fence, effects: readonly Effect[]): void {
    if (this.#held.has(run.id)) throw new Error(`invariant T1: ${printableRun(run.id)} is held twice`);
    const held = new HeldRun(this, plan, run, fence);
    this.#held.set(run.id, held);
    this.room.takeAnyway(held.bytes);
    if (this.#draining !== 'no') held.handBack(this.#draining);
    held.begin(effects);
  }

  grown(bytes: number): void {
    this.room.grow(bytes);
  }

  parted(run: HeldRun, why: Parting): void {
    this.#held.delete(run.id);
    if (why === 'fenced') this.ports.onOvertaken?.(run.id);
    // Who was fenced has lost the lock too, or it runs out.
    this.#locks.release(run.id, why !== 'fenced');
    this.room.give(run.bytes);
    this.#checkEmpty();
  }

  /**
   * Lets everything go: runs with no call out at once, the others when their calls are answered or `drainMs` is over. Resolves
   * when nothing is held.
   */
  async drain(): Promise<void> {
    this.#draining = 'when idle';
    this.room.close();
    this.#locks.stopWaiting();
    for (let offer = this.#queue.take(); offer; offer = this.#queue.take()) this.#settle(offer, 'gone');
    for (const run of [...this.#held.values()]) run.handBack('when idle');
    if (this.room.taken > 0) {
      const emptied = new Promise<void>((resolve) => (this.#emptied = resolve));
      const deadline = this.ports.clock.after(this.settings.drainMs, () => {
        this.#draining = 'now';
        for (const run of [...this.#held.values()]) run.handBack('now');
      });
      await emptied;
      deadline.cancel();
    }
    this.#locks.close();
  }

  #isHere(run: RunId): boolean {
    return this.#held.has(run) || this.#pending.has(run);
  }

  #claimNext(): void {
    while (this.#claiming < this.settings.maxClaims) {
      const offer = this.#queue.take();
      if (!offer) return;
      this.#claiming++;
      void this.#claim(offer).then((how) => {
        this.#claiming--;
        this.#settle(offer, how);
        this.#claimNext();
      });
    }
  }

  /** Never rejects. */
  async #claim({ run, fence }: OfferedRun): Promise<Settled> {
    try {
      const permission = await this.#locks.take(run);
      if (permission.kind === 'busy') return { busyForMs: permission.forMs };
      if (permission.kind === 'stopped') return 'gone';
      const claimed = await claim(this.ports, this.context, run, fence, this.claimant());
      if (claimed) {
        this.keep(claimed.plan, claimed.run, claimed.fence, claimed.effects);
        return 'taken';
      }
    } catch (error) {
      this.ports.onError(error, `claim of ${printableRun(run)}`);
    }
    this.#locks.release(run, true);
    return 'gone';
  }

  #settle(offer: OfferedRun, how: Settled): void {
    this.#unreserve(offer.run, offer.bytes);
    offer.settled(how);
  }

  #unreserve(run: RunId, bytes: number): void {
    this.#pending.delete(run);
    this.room.give(bytes);
    this.#checkEmpty();
  }

  #checkEmpty(): void {
    if (this.room.taken === 0) this.#emptied?.();
  }
}
