// The dispatch end of the links to spouts: offers in, credits and answers out.
//
// Invariants:
//   L1  Credits share the room equally among the spouts, and tell each the last of its offers that is counted in: it takes off those
//       still on the way. So a spout that is alone never offers more than there is room for, unless runs that are submitted here
//       take of it meanwhile. Among several, the share of one grows with what another doesn't use, and an offer on the way may
//       find its place taken: it is declined.
//   L2  Places are rounded up, so that with fewer places than spouts none of them starves. While nothing is taken, each spout may
//       offer a run of the largest size there is, whatever its share: no run is too large for ever.
//   L3  Every offer is answered, unless its link is gone.
//   L4  Credits are told when the room changes or an offer used none of it. Those that were lost are told again: with whatever a
//       spout says of itself, which it does every second.

import { create } from '@bufbuild/protobuf';
import { isLevel } from '../../flow/level.ts';
import type { RunId } from '../../flow/run.ts';
import { latin1 } from '../../flow/run-id.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Channel } from '../../platform/rpc/channel.ts';
import {
  CreditsSchema,
  type FromDispatch,
  FromDispatchSchema,
  type FromSpout,
  HoldAnswerSchema,
  type HoldQuestion,
  type Offer,
  OfferAnswerSchema,
  OfferVerdict,
  type RunReference,
} from '../../proto/gen/weir/feed/v1/feed_pb.js';
import type { Fence } from '../../store/port.ts';
import { itemLimits } from '../item-limits.ts';
import type { HeldRun } from './held-run.ts';
import type { Holding } from './holding.ts';

/** What the links need of the runs that are here. */
export interface OfferedTo extends Pick<Holding, 'room' | 'offer'> {
  get(run: RunId): Pick<HeldRun, 'fence' | 'nudge'> | undefined;
}

export class SpoutLinks {
  readonly #holding: OfferedTo;
  readonly #clock: Clock;
  readonly #onError: (error: unknown, doing: string) => void;
  readonly #links = new Map<Channel<FromDispatch, FromSpout>, Link>();
  #scheduled = false;

  constructor(holding: OfferedTo, clock: Clock, onError: (error: unknown, doing: string) => void) {
    this.#holding = holding;
    this.#clock = clock;
    this.#onError = onError;
    holding.room.onFreed = () => this.#announceSoon();
  }

  /** Something waits in a spout at this level or before it. */
  waitsAtOrBefore(level: number): boolean {
    const mask = (1 << level) - 1;
    for (const link of this.#links.values()) if ((link.backlog & mask) !== 0) return true;
    return false;
  }

  /** A run was stored unheld by this process: until a spout says what waits, it does. */
  noteWaiting(level: number): void {
    for (const link of this.#links.values()) link.backlog |= 1 << (level - 1);
  }

  accept(channel: Channel<FromDispatch, FromSpout>): void {
    this.#links.set(channel, { backlog: 0, heard: 0n });
    channel.onClose(() => {
      this.#links.delete(channel);
      // What waited there holds nobody back any more.
      this.#holding.room.recheck();
      this.#announceSoon();
    });
    channel.listen((message) => this.#receive(channel, message));
    this.#announceSoon();
  }

  /** Tells every spout how much it may still offer. Several changes of one turn are told once. */
  #announceSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#clock.soon(() => {
      this.#scheduled = false;
      const { runs, bytes } = this.#share();
      for (const [channel, { heard }] of this.#links) {
        const value = create(CreditsSchema, { runs, bytes, heard });
        channel.send(create(FromDispatchSchema, { message: { case: 'credits', value } }));
      }
    });
  }

  #share(): { runs: number; bytes: bigint } {
    const { room } = this.#holding;
    const { runs, bytes } = room.available();
    const spouts = Math.max(1, this.#links.size);
    const leastBytes = room.taken === 0 ? itemLimits.maxItemBytes : 0;
    return { runs: Math.ceil(runs / spouts), bytes: BigInt(Math.max(leastBytes, Math.floor(bytes / spouts))) };
  }

  #receive(channel: Channel<FromDispatch, FromSpout>, { message }: FromSpout): void {
    switch (message.case) {
      case 'offer':
        return this.#offered(channel, message.value);
      case 'nudge':
        return this.#nudged(message.value.run);
      case 'holdQuestion':
        return this.#asked(channel, message.value);
      case 'backlog': {
        const link = this.#links.get(channel);
        if (link) link.backlog = message.value.levels;
        this.#holding.room.recheck();
        return this.#announceSoon();
      }
      case 'hello':
        return this.#announceSoon();
      case undefined:
        // A message that isn't known here comes from a newer spout and asks nothing of us.
        return;
    }
  }

  #offered(channel: Channel<FromDispatch, FromSpout>, offer: Offer): void {
    const { run, level, bytes } = offer;
    const link = this.#links.get(channel);
    if (link) link.heard = offer.number;
    if (!run || !isLevel(level)) return;
    const answer = (verdict: OfferVerdict, busyForMs = 0) => {
      const value = create(OfferAnswerSchema, { run, verdict, busyForMs });
      channel.send(create(FromDispatchSchema, { message: { case: 'offerAnswer', value } }));
    };
    const how = this.#holding.offer({
      run: runOf(run),
      fence: fenceOf(offer.fence),
      level,
      bytes: Number(bytes),
      settled: (outcome) => {
        if (typeof outcome === 'object') answer(OfferVerdict.BUSY, Math.ceil(outcome.busyForMs));
        else answer(outcome === 'taken' ? OfferVerdict.TAKEN : OfferVerdict.GONE);
      },
    });
    if (how === 'queued') return;
    answer(how === 'known' ? OfferVerdict.KNOWN : OfferVerdict.DECLINED);
    this.#announceSoon();
  }

  #nudged(run: RunReference | undefined): void {
    const held = run && this.#holding.get(runOf(run));
    held?.nudge().catch((error: unknown) => this.#onError(error, 'reading an inbox'));
  }

  #asked(channel: Channel<FromDispatch, FromSpout>, { questionId, run, fence }: HoldQuestion): void {
    const held = run && this.#holding.get(runOf(run));
    // A run that was claimed by another since, and that we don't know yet to have lost, isn't ours.
    const holds = held !== undefined && held.fence.epoch >= fenceOf(fence).epoch;
    const value = create(HoldAnswerSchema, { questionId, holds });
    channel.send(create(FromDispatchSchema, { message: { case: 'holdAnswer', value } }));
  }
}

interface Link {
  /** Bit n - 1: level n isn't empty there. */
  backlog: number;
  /** Number of the last offer that came by it. */
  heard: bigint;
}

function runOf(run: RunReference): RunId {
  return latin1(run.id) as RunId;
}

function fenceOf(fence: Offer['fence']): Fence {
  return { epoch: Number(fence?.epoch ?? 0n), version: Number(fence?.version ?? 0n) };
}
