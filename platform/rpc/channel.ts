// Two ends that send each other messages: a gRPC stream, two objects in one process, or a simulated network. Messages arrive in
// order or not at all; neither end learns which were lost.

export interface Channel<Outgoing, Incoming> {
  /** Never throws; after the end of the channel it does nothing. */
  send(message: Outgoing): void;
  /** One listener; messages that came before it are kept for it. */
  listen(listener: (message: Incoming) => void): void;
  /** Called once when the other end is gone. */
  onClose(listener: () => void): void;
  close(): void;
}

/** Two ends inside one process. A message arrives in a turn of its own, so that no caller is re-entered. */
export function channelPair<Left, Right>(
  soon: (action: () => void) => void,
): [Channel<Left, Right>, Channel<Right, Left>] {
  const left = new InProcessEnd<Left, Right>(soon);
  const right = new InProcessEnd<Right, Left>(soon);
  left.join(right);
  right.join(left);
  return [left, right];
}

class InProcessEnd<Outgoing, Incoming> implements Channel<Outgoing, Incoming> {
  #peer: InProcessEnd<Incoming, Outgoing> | undefined;
  #listener: ((message: Incoming) => void) | undefined;
  #closed: (() => void) | undefined;
  /** Until the next turn; bounded by what one turn sends. */
  #waiting: Incoming[] = [];
  #scheduled = false;
  #open = true;
  readonly #soon: (action: () => void) => void;

  constructor(soon: (action: () => void) => void) {
    this.#soon = soon;
  }

  join(peer: InProcessEnd<Incoming, Outgoing>): void {
    this.#peer = peer;
  }

  send(message: Outgoing): void {
    if (this.#open) this.#peer?.arrive(message);
  }

  listen(listener: (message: Incoming) => void): void {
    this.#listener = listener;
    this.#schedule();
  }

  onClose(listener: () => void): void {
    this.#closed = listener;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#peer?.ended();
  }

  arrive(message: Incoming): void {
    this.#waiting.push(message);
    this.#schedule();
  }

  ended(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#soon(() => this.#closed?.());
  }

  #schedule(): void {
    if (this.#scheduled || !this.#listener || this.#waiting.length === 0) return;
    this.#scheduled = true;
    this.#soon(() => {
      this.#scheduled = false;
      const messages = this.#waiting;
      this.#waiting = [];
      for (const message of messages) this.#listener?.(message);
    });
  }
}
