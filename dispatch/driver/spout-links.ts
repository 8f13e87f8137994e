// The dispatch end of the links to spouts: offers in, credits and answers out.
//
// Invariants:
//   L1  Credits share the room equally among the spouts. Places are rounded up, so that with fewer places than spouts none of them
//       starves: at most one offer of each finds no place, and is declined.
//   L2  Every offer is answered, unless its link is gone.
//   L3  Credits that were lost are told again: with whatever a spout says of itself, which it does every second.

import { create } from '@bufbuild/protobuf';
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
import type { Holding } from './holding.ts';

export class SpoutLinks {
  readonly #holding: Holding;
  readonly #clock: Clock;
  readonly #onError: (error: unknown, doing: string) => void;
  readonly #links = new Map<Channel<FromDispatch, FromSpout>, Link>();
  #scheduled = false;

  constructor(holding: Holding, clock: Clock, onError: (error: unknown, doing: string) => void) {
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
    this.#links.set(channel, { backlog: 0 });
    channel.onClose(() => {
      this.#links.delete(channel);
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
      const { runs, bytes } = this.#holding.room.available();
      const spouts = Math.max(1, this.#links.size);
      const value = create(CreditsSchema, {
        runs: Math.ceil(runs / spouts),
        bytes: BigInt(Math.floor(bytes / spouts)),
      });
      for (const channel of this.#links.keys())
        channel.send(create(FromDispatchSchema, { message: { case: 'credits', value } }));
    });
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
    if (!run || level < 1 || level > 9) return;
    const answer = (verdict: OfferVerdict) => {
      const value = create(OfferAnswerSchema, { run, verdict });
      channel.send(create(FromDispatchSchema, { message: { case: 'offerAnswer', value } }));
    };
    const how = this.#holding.offer({
      run: runOf(run),
      fence: fenceOf(offer.fence),
      level,
      bytes: Number(bytes),
      settled: (outcome) => answer(outcome === 'taken' ? OfferVerdict.TAKEN : OfferVerdict.GONE),
    });
    if (how === 'known') answer(OfferVerdict.KNOWN);
    if (how === 'no room') answer(OfferVerdict.DECLINED);
  }

  #nudged(run: RunReference | undefined): void {
    const held = run && this.#holding.get(runOf(run));
    held?.nudge().catch((error: unknown) => this.#onError(error, 'reading an inbox'));
  }

  #asked(channel: Channel<FromDispatch, FromSpout>, { questionId, run }: HoldQuestion): void {
    const holds = run !== undefined && this.#holding.get(runOf(run)) !== undefined;
    const value = create(HoldAnswerSchema, { questionId, holds });
    channel.send(create(FromDispatchSchema, { message: { case: 'holdAnswer', value } }));
  }
}

interface Link {
  /** Bit n - 1: level n isn't empty there. */
  backlog: number;
}

function runOf(run: RunReference): RunId {
  return latin1(run.id) as RunId;
}

function fenceOf(fence: Offer['fence']): Fence {
  return { epoch: Number(fence?.epoch ?? 0n), version: Number(fence?.version ?? 0n) };
}
