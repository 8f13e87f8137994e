// The spout's end of the link to one dispatch.
//
// Owns what the dispatch can still take, as far as the spout knows, and the offers that it hadn't heard of when it said so.
//
// Invariants:
//   D1  An offer goes out only when, together with those that the last Credits didn't count in, it is within what it allowed, in
//       runs and bytes: those on the way when it was told as well as those sent since. One that was given up as lost isn't counted,
//       though it may still arrive.
//   D2  Nothing is sent or heard after the end of the link; its end is told once.
//   D3  At most `maxUnheard` offers are remembered, whatever the dispatch allows.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Channel } from '../platform/rpc/channel.ts';
import {
  type Credits,
  type FromDispatch,
  type FromSpout,
  FromSpoutSchema,
  type HoldAnswer,
  type OfferAnswer,
  OfferVerdict,
} from '../proto/gen/weir/feed/v1/feed_pb.js';
import type { Fence, IndexHit } from '../store/port.ts';
import { latin1, latin1Bytes, type RunId, shardOf } from '../store/run-name.ts';
import type { Verdict } from './core/offers.ts';

/** Offers on the way at once: far more than a dispatch holds runs. */
const maxUnheard = 10_000;

/** A dispatch process, as the holder of a run names it. */
export interface DispatchIdentity {
  readonly processId: string;
  /** New for each start of the process. */
  readonly incarnation: string;
}

/** What comes from a link. */
export interface LinkListener {
  credited(link: DispatchLink): void;
  offerAnswered(link: DispatchLink, run: RunId, verdict: Verdict): void;
  holdAnswered(link: DispatchLink, answer: HoldAnswer): void;
  closed(link: DispatchLink): void;
}

/** An offer as its sender remembers it. */
export interface SentOffer {
  readonly link: DispatchLink;
  readonly number: number;
}

export class DispatchLink {
  readonly dispatch: DispatchIdentity;
  readonly #channel: Channel<FromSpout, FromDispatch>;
  readonly #listener: LinkListener;
  readonly #shards: number;
  #open = true;
  #isHeard = false;
  #allowedRuns = 0;
  #allowedBytes = 0;
  #lastNumber = 0;
  /** Bytes by number, ascending: the offers that aren't counted in what is allowed. */
  readonly #unheard = new Map<number, number>();
  #unheardBytes = 0;

  constructor(
    dispatch: DispatchIdentity,
    channel: Channel<FromSpout, FromDispatch>,
    shards: number,
    listener: LinkListener,
  ) {
    this.dispatch = dispatch;
    this.#channel = channel;
    this.#shards = shards;
    this.#listener = listener;
  }

  /** Says who we are and begins to listen. */
  begin(self: { readonly processId: string; readonly incarnation: string }): void {
    this.#send({ case: 'hello', value: { spoutId: self.processId, incarnation: self.incarnation } });
    this.#channel.onClose(() => {
      if (!this.#open) return;
      this.#open = false;
      this.#listener.closed(this);
    });
    this.#channel.listen((message) => this.#receive(message));
  }

  /** The dispatch has said something, so it is there. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Runs that may still be offered. */
  get freeRuns(): number {
    return Math.max(0, this.#allowedRuns - this.#unheard.size);
  }

  fits(bytes: number): boolean {
    return this.freeRuns > 0 && this.#allowedBytes - this.#unheardBytes >= bytes;
  }

  offer({ run, fence, control }: IndexHit): SentOffer {
    const { business, level, order, inputBytes } = control;
    if (!this.fits(inputBytes)) throw new Error('invariant D1: an offer beyond the credits');
    const number = ++this.#lastNumber;
    this.#unheard.set(number, inputBytes);
    this.#unheardBytes += inputBytes;
    const value = {
      run: this.#reference(run),
      fence: fenceMessage(fence),
      business,
      level,
      order: BigInt(order),
      bytes: BigInt(inputBytes),
      number: BigInt(number),
    };
    this.#send({ case: 'offer', value });
    return { link: this, number };
  }

  /** An offer got lost: what it used is free again, unless the dispatch has heard of it after all, and told what is free since. */
  giveBack({ number }: SentOffer): void {
    this.#unheardBytes -= this.#unheard.get(number) ?? 0;
    this.#unheard.delete(number);
  }

  nudge(run: RunId): void {
    this.#send({ case: 'nudge', value: { run: this.#reference(run) } });
  }

  ask(questionId: number, run: RunId, fence: Fence): void {
    const holderIncarnation = this.dispatch.incarnation;
    const value = {
      questionId: BigInt(questionId),
      run: this.#reference(run),
      fence: fenceMessage(fence),
      holderIncarnation,
    };
    this.#send({ case: 'holdQuestion', value });
  }

  /** Bit n - 1 of `levels` is set when level n waits. */
  tellBacklog(levels: number): void {
    this.#send({ case: 'backlog', value: { levels } });
  }

  /** Ends the link without telling the listener. */
  close(): void {
    this.#open = false;
    this.#channel.close();
  }

  #receive({ message }: FromDispatch): void {
    if (!this.#open) return;
    this.#isHeard = true;
    switch (message.case) {
      case 'credits':
        this.#credited(message.value);
        return this.#listener.credited(this);
      case 'offerAnswer': {
        const { run } = message.value;
        if (run) this.#listener.offerAnswered(this, latin1(run.id) as RunId, verdictOf(message.value));
        return;
      }
      case 'holdAnswer':
        return this.#listener.holdAnswered(this, message.value);
      case undefined:
        // From a newer dispatch: it asks nothing of us.
        return;
    }
  }

  #credited({ runs, bytes, heard }: Credits): void {
    this.#allowedRuns = Math.min(runs, maxUnheard);
    this.#allowedBytes = Number(bytes);
    for (const number of this.#unheard.keys()) {
      if (number > Number(heard)) return;
      this.giveBack({ link: this, number });
    }
  }

  #reference(run: RunId): { shard: number; id: Uint8Array } {
    return { shard: shardOf(run, this.#shards), id: latin1Bytes(run) };
  }

  #send(message: NonNullable<MessageInitShape<typeof FromSpoutSchema>['message']>): void {
    if (this.#open) this.#channel.send(create(FromSpoutSchema, { message }));
  }
}

function verdictOf({ verdict, busyForMs }: OfferAnswer): Verdict {
  if (verdict === OfferVerdict.TAKEN) return 'accepted';
  if (verdict === OfferVerdict.KNOWN) return 'known';
  if (verdict === OfferVerdict.BUSY) return { busyForMs };
  // What only a newer dispatch says counts as gone: the run is looked at again.
  return verdict === OfferVerdict.DECLINED ? 'declined' : 'gone';
}

function fenceMessage({ epoch, version }: Fence): { epoch: bigint; version: bigint } {
  return { epoch: BigInt(epoch), version: BigInt(version) };
}
