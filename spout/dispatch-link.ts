// The spout's end of the link to one dispatch.
//
// Owns what the dispatch can still take, as far as the spout knows.
//
// Invariants:
//   D1  Offers sent since the last Credits are never more, in runs or bytes, than it allowed.
//   D2  Nothing is sent or heard after the end of the link; its end is told once.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Channel } from '../platform/rpc/channel.ts';
import {
  type FromDispatch,
  type FromSpout,
  FromSpoutSchema,
  type HoldAnswer,
  OfferVerdict,
} from '../proto/gen/weir/feed/v1/feed_pb.js';
import type { Fence, IndexHit } from '../store/port.ts';
import { latin1, latin1Bytes, type RunId, shardOf } from '../store/run-name.ts';

/** A dispatch process, as the holder of a run names it. */
export interface DispatchIdentity {
  readonly processId: string;
  /** New for each start of the process. */
  readonly incarnation: string;
}

/** What comes from a link. */
export interface LinkListener {
  credited(link: DispatchLink): void;
  offerAnswered(link: DispatchLink, run: RunId, accepted: boolean): void;
  holdAnswered(link: DispatchLink, answer: HoldAnswer): void;
  closed(link: DispatchLink): void;
}

/** An offer as its sender remembers it. */
export interface SentOffer {
  readonly link: DispatchLink;
  readonly bytes: number;
  /** Credits messages that had come before it. */
  readonly credits: number;
}

export class DispatchLink {
  readonly dispatch: DispatchIdentity;
  readonly #channel: Channel<FromSpout, FromDispatch>;
  readonly #listener: LinkListener;
  readonly #shards: number;
  #open = true;
  #freeRuns = 0;
  #freeBytes = 0;
  #credits = 0;

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

  /** Runs that may still be offered. */
  get freeRuns(): number {
    return this.#freeRuns;
  }

  fits(bytes: number): boolean {
    return this.#freeRuns > 0 && this.#freeBytes >= bytes;
  }

  offer({ run, fence, control }: IndexHit): SentOffer {
    const { business, level, order, inputBytes } = control;
    if (!this.fits(inputBytes)) throw new Error('invariant D1: an offer beyond the credits');
    this.#freeRuns--;
    this.#freeBytes -= inputBytes;
    const value = {
      run: this.#reference(run),
      fence: fenceMessage(fence),
      business,
      level,
      order: BigInt(order),
      bytes: BigInt(inputBytes),
    };
    this.#send({ case: 'offer', value });
    return { link: this, bytes: inputBytes, credits: this.#credits };
  }

  /** An offer got lost: what it used is free again, unless the dispatch has told anew what is free. */
  giveBack({ bytes, credits }: SentOffer): void {
    if (credits !== this.#credits) return;
    this.#freeRuns++;
    this.#freeBytes += bytes;
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
    switch (message.case) {
      case 'credits':
        this.#credits++;
        this.#freeRuns = message.value.runs;
        this.#freeBytes = Number(message.value.bytes);
        return this.#listener.credited(this);
      case 'offerAnswer': {
        const { run, verdict } = message.value;
        if (run) this.#listener.offerAnswered(this, latin1(run.id) as RunId, isAccepted(verdict));
        return;
      }
      case 'holdAnswer':
        return this.#listener.holdAnswered(this, message.value);
      case undefined:
        // From a newer dispatch: it asks nothing of us.
        return;
    }
  }

  #reference(run: RunId): { shard: number; id: Uint8Array } {
    return { shard: shardOf(run, this.#shards), id: latin1Bytes(run) };
  }

  #send(message: NonNullable<MessageInitShape<typeof FromSpoutSchema>['message']>): void {
    if (this.#open) this.#channel.send(create(FromSpoutSchema, { message }));
  }
}

function isAccepted(verdict: OfferVerdict): boolean {
  return verdict === OfferVerdict.TAKEN || verdict === OfferVerdict.KNOWN;
}

function fenceMessage({ epoch, version }: Fence): { epoch: bigint; version: bigint } {
  return { epoch: BigInt(epoch), version: BigInt(version) };
}
