// Nodes that live as long as the session, and are there again in the next one.
//
// Ownership: each node here is this process's own by its name (node-name.ts): whoever else has made it is an earlier session of it.
//
// Invariants:
//   E1  For each node at most one request is out, and after a change of what is wanted, of the session or of the connection the node
//       is looked at again.
//   E2  `isThere` only while the node is known to exist in the present session: it was made or found in it, and not missed since.

import type { Timer } from '../../clock/clock.ts';
import { explain } from './answer.ts';
import type { ZooKeeperSession } from './session.ts';

interface Held {
  readonly path: string;
  readonly data: Uint8Array;
  isWanted: boolean;
  /** The session in which it is known to exist. */
  thereIn: string | undefined;
  /** Whether it may exist: what was never asked for needn't be removed. */
  maybeThere: boolean;
  isBusy: boolean;
  /** Its state may be another one since the last request began. */
  isDoubtful: boolean;
  /** The one try to come. */
  retry?: Timer;
  readonly waiting: Set<() => void>;
}

/** A request that failed on a live connection is made again after this long, in ms. */
const retryMs = 500;

export class EphemeralNodes {
  readonly #session: ZooKeeperSession;
  readonly #onChange: () => void;
  readonly #onProblem: (problem: string) => void;
  readonly #held = new Map<string, Held>();
  readonly #stopListening: () => void;
  #isClosed = false;

  /** `onChange`: some `isThere` may have another answer. */
  constructor(session: ZooKeeperSession, onChange: () => void, onProblem: (problem: string) => void) {
    this.#session = session;
    this.#onChange = onChange;
    this.#onProblem = onProblem;
    this.#stopListening = session.listen(({ kind }) => {
      if (kind === 'connected') for (const path of this.#held.keys()) this.verify(path);
    });
  }

  /** The nodes stay until the session ends. Whoever waits for one is answered. */
  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    for (const held of this.#held.values()) {
      held.retry?.cancel();
      answerAll(held);
    }
  }

  /** Resolves when the node exists. */
  async hold(path: string, data: Uint8Array): Promise<void> {
    const held = this.#held.get(path) ?? this.#add(path, data);
    held.isWanted = true;
    await this.#settled(held, () => !held.isWanted || this.isThere(path));
  }

  /**
   * Resolves when the node doesn't exist; at once where no server can be reached: then it goes when one can, at the latest with the
   * session.
   */
  async release(path: string): Promise<void> {
    const held = this.#held.get(path);
    if (!held) return;
    held.isWanted = false;
    this.#onChange();
    await this.#settled(held, () => held.isWanted || !this.#held.has(path) || !this.#session.isConnected);
  }

  isThere(path: string): boolean {
    const held = this.#held.get(path);
    return held !== undefined && held.isWanted && held.thereIn !== undefined && held.thereIn === this.#session.session;
  }

  /** Looks whether the node is there, and makes it when it isn't. */
  verify(path: string): void {
    const held = this.#held.get(path);
    if (!held) return;
    held.isDoubtful = true;
    void this.#settle(held);
  }

  #add(path: string, data: Uint8Array): Held {
    const state = { isWanted: true, thereIn: undefined, maybeThere: false, isBusy: false, isDoubtful: true };
    const held: Held = { path, data, ...state, waiting: new Set() };
    this.#held.set(path, held);
    return held;
  }

  async #settled(held: Held, isOver: () => boolean): Promise<void> {
    void this.#settle(held);
    while (!this.#isClosed && !isOver()) await new Promise<void>((resolve) => held.waiting.add(resolve));
  }

  async #settle(held: Held): Promise<void> {
    if (held.isBusy || this.#isClosed) return;
    held.isBusy = true;
    try {
      while (this.#session.isConnected && !this.#isClosed && this.#needsWork(held)) {
        held.isDoubtful = false;
        if (await (held.isWanted ? this.#make(held) : this.#remove(held))) continue;
        held.isDoubtful = true;
        this.#tryLater(held);
        break;
      }
    } finally {
      held.isBusy = false;
      answerAll(held);
    }
  }

  #tryLater(held: Held): void {
    held.retry?.cancel();
    if (this.#session.isConnected) held.retry = this.#session.clock.after(retryMs, () => void this.#settle(held));
  }

  #needsWork(held: Held): boolean {
    if (this.#held.get(held.path) !== held) return false;
    return !held.isWanted || held.isDoubtful || !this.isThere(held.path);
  }

  /** Answers false when it has to be tried again. */
  async #make(held: Held): Promise<boolean> {
    const session = this.#session.session;
    const { path, data } = held;
    held.maybeThere = true;
    const made = await this.#session.change([{ kind: 'create', path, data, mode: 'ephemeral' }]);
    if (made.kind === 'done') return this.#found(held, session);
    if (made.kind === 'absent') return (await this.#session.ensure(parentOf(path))).kind === 'done';
    if (made.kind === 'refused') this.#onProblem(`${path} can't be made: ${explain(made)}`);
    if (made.kind !== 'exists') return false;
    const node = await this.#session.read(path);
    if (node.kind === 'absent') return true;
    if (node.kind !== 'done') return false;
    if (node.value.stat.owner === session) return this.#found(held, session);
    // An earlier session of ours has it, and takes it along when it ends.
    const replaced = await this.#session.change([
      { kind: 'remove', path },
      { kind: 'create', path, data, mode: 'ephemeral' },
    ]);
    if (replaced.kind === 'done') return this.#found(held, session);
    return replaced.kind === 'absent';
  }

  #found(held: Held, session: string | undefined): true {
    const was = this.isThere(held.path);
    held.thereIn = session;
    if (was !== this.isThere(held.path)) this.#onChange();
    return true;
  }

  async #remove(held: Held): Promise<boolean> {
    const removed = held.maybeThere ? await this.#session.change([{ kind: 'remove', path: held.path }]) : undefined;
    if (removed && removed.kind !== 'done' && removed.kind !== 'absent') return false;
    held.thereIn = undefined;
    held.maybeThere = false;
    if (!held.isWanted) this.#held.delete(held.path);
    return true;
  }
}

function answerAll(held: Held): void {
  const waiting = [...held.waiting];
  held.waiting.clear();
  for (const answer of waiting) answer();
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
