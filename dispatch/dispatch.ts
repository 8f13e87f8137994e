// One dispatch: takes items in, holds runs and drives them, hands them back when it leaves.
//
// Invariants:
//   D1  While membership can't say that the others see us, nothing begins here: no credits, no offers, and what is submitted is
//       stored to wait for its turn. What is held goes on: the store's fence decides whether it is still ours.

import type { RunId } from '../flow/run.ts';
import type { Member } from '../platform/coordination/membership.ts';
import type { Channel } from '../platform/rpc/channel.ts';
import type { FromDispatch, FromSpout } from '../proto/gen/weir/feed/v1/feed_pb.js';
import type { InboxEvent } from '../proto/gen/weir/run/v1/run_pb.js';
import type { PostResult } from '../store/port.ts';
import { StoreErrands } from './driver/errands.ts';
import { Holding } from './driver/holding.ts';
import type { DispatchPorts } from './driver/ports.ts';
import { RunCreation } from './driver/run-creation.ts';
import { SpoutLinks } from './driver/spout-links.ts';
import { type CheckedItem, Submission, type Submitted } from './driver/submission.ts';
import { type DispatchSettings, dispatchDefaults } from './settings.ts';

export class Dispatch {
  readonly #ports: DispatchPorts;
  #self: Member;
  readonly #settings: DispatchSettings;
  readonly #holding: Holding;
  readonly #links: SpoutLinks;
  readonly #submission: Submission;
  #accepting = true;
  #unwatch: () => void = () => {};

  constructor(self: Member, ports: DispatchPorts, settings: Partial<DispatchSettings> = {}) {
    this.#self = self;
    this.#ports = ports;
    this.#settings = { ...dispatchDefaults, ...settings };
    this.#holding = new Holding(self, ports, this.#settings);
    this.#links = new SpoutLinks(this.#holding, ports.clock, ports.onError);
    const creation = new RunCreation(this.#holding, this.#links);
    this.#holding.errands = new StoreErrands(this.#holding, creation);
    this.#submission = new Submission(ports, creation);
    this.#holding.room.mayBegin = () => ports.membership.isSafe();
  }

  /** Makes this dispatch known to others. `address`: where spouts find its Feed, `host:port`; empty inside one process. */
  async start(address = ''): Promise<void> {
    const { membership } = this.#ports;
    this.#self = { ...this.#self, address };
    await membership.join(this.#self);
    let wasSafe = membership.isSafe();
    this.#unwatch = membership.watch(() => {
      if (membership.isSafe() === wasSafe) return;
      wasSafe = !wasSafe;
      this.#holding.room.mayBeginChanged();
    });
    this.#holding.room.mayBeginChanged();
  }

  /** Runs held, being claimed or being created. */
  get held(): number {
    return this.#holding.room.taken;
  }

  connect(channel: Channel<FromDispatch, FromSpout>): void {
    this.#links.accept(channel);
  }

  /** Resolves when the item is durable, or refused. */
  async submit(item: CheckedItem): Promise<Submitted> {
    if (!this.#accepting) {
      return {
        kind: 'refused',
        why: 'unavailable',
        field: '',
        message: 'this dispatch is stopping; send the item to another',
      };
    }
    return this.#submission.submit(item);
  }

  /**
   * Resolves when so many runs of this level could start at once, or a moment later: what paces whoever can wait. An item that is
   * submitted without room is stored all the same, and costs more writes when it begins.
   */
  whenRoomFor(runs: number, level: number): Promise<void> {
    const mayTake = () => !this.#holding.waitsAtOrBefore(level) && !this.#links.waitsAtOrBefore(level);
    return this.#holding.room.whenRoomFor(runs, mayTake, this.#settings.patienceMs);
  }

  /** Puts an event into a run's inbox and tells its holder, when that is this process; a spout finds the others. */
  post(run: RunId, event: InboxEvent): Promise<PostResult> {
    return this.#holding.post(run, event);
  }

  /** Hands back what it holds, waiting for calls that are out, and leaves. New items are refused from the first moment. */
  async stop(): Promise<void> {
    this.#accepting = false;
    await this.#holding.drain();
    this.#unwatch();
    await this.#ports.membership.leave(this.#self);
  }
}
