// A channel over a held call of gRPC, for either end of it.
//
// Owns the messages that wait for the stream, and the reading of those that come in.
//
// Invariants:
//   C1  Its end is told once, and never to whoever closed it; nothing is sent or heard after it.
//   C2  At most `maxWaiting` messages wait: a peer that doesn't read is as good as gone, and the channel ends.

import type { Channel } from './channel.ts';

/** Messages that wait for a stream: far more than go between two ends that live. */
const maxWaiting = 100_000;

export class StreamChannel<Outgoing, Incoming> implements Channel<Outgoing, Incoming> {
  readonly #incoming: AsyncIterable<Incoming>;
  readonly #maxWaiting: number;
  #waiting: Outgoing[] = [];
  #wake: (() => void) | undefined;
  #open = true;
  #closed: (() => void) | undefined;

  constructor(incoming: AsyncIterable<Incoming>, limit: number = maxWaiting) {
    this.#incoming = incoming;
    this.#maxWaiting = limit;
  }

  send(message: Outgoing): void {
    if (!this.#open) return;
    if (this.#waiting.length >= this.#maxWaiting) return this.end();
    this.#waiting.push(message);
    this.#wake?.();
  }

  listen(listener: (message: Incoming) => void): void {
    void this.#read(listener);
  }

  onClose(listener: () => void): void {
    this.#closed = listener;
  }

  close(): void {
    this.#open = false;
    this.#wake?.();
  }

  /** The call is over: tells whoever waits for the end. */
  end(): void {
    if (!this.#open) return;
    this.close();
    this.#closed?.();
  }

  /** What is sent, in order, until the end of the channel. To be read by one reader, who sends it on. */
  async *outgoing(): AsyncGenerator<Outgoing, void, void> {
    for (;;) {
      const batch = this.#waiting;
      this.#waiting = [];
      yield* batch;
      if (this.#waiting.length > 0) continue;
      if (!this.#open) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #read(listener: (message: Incoming) => void): Promise<void> {
    try {
      for await (const message of this.#incoming) {
        if (!this.#open) return;
        hand(listener, message);
      }
    } catch {
      // However a call ends, its channel has ended: messages may be lost, and the ends count on nothing else.
    } finally {
      this.end();
    }
  }
}

/** A listener that throws is a bug, and no end of the call: it comes up where bugs do, as inside one process. */
function hand<Message>(listener: (message: Message) => void, message: Message): void {
  try {
    listener(message);
  } catch (bug) {
    queueMicrotask(() => {
      throw bug;
    });
  }
}
