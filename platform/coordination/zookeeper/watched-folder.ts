// The nodes below one node, kept as last heard. What a node says never changes (its name is made of what it says, node-name.ts), so
// that only the set of names has to be watched, and the data of each is read once.
//
// Ownership: it owns its copy of the entries, and its watch.
//
// Invariants:
//   W1  One reading at a time. One that is asked for while another runs begins after it.
//   W2  A reading arms the watch as it takes the names, so that no change falls between; after a connection was lost, and with it
//       the watch, everything is read again.
//   W3  Entries change by whole readings only; one that could not be ended leaves them as they were.

import type { Timer } from '../../clock/clock.ts';
import { type Answer, explain } from './answer.ts';
import type { ZooKeeperSession } from './session.ts';

/** A node that others wrote and that says nothing we know: it is left out, once with a word about it. */
export type Decoded<T> =
  | { readonly kind: 'entry'; readonly entry: T }
  | { readonly kind: 'foreign'; readonly why: string };

export interface WatchedFolderOptions<T> {
  readonly session: ZooKeeperSession;
  readonly path: string;
  readonly decode: (data: Uint8Array) => Decoded<T>;
  /** Called after each whole reading, whether or not it shows another set. */
  readonly onReading: (entries: ReadonlyMap<string, T>) => void;
  readonly onProblem: (problem: string) => void;
}

const timing = {
  /** A reading that failed on a live connection is tried again after this long, in ms. */
  retryMs: 500,
  /** Besides the watch, in ms: changes must be seen within 10 s even if a watch were lost. */
  pollMs: 5_000,
} as const;

export class WatchedFolder<T> {
  readonly #options: WatchedFolderOptions<T>;
  readonly #stopListening: () => void;
  #known: ReadonlyMap<string, Decoded<T>> = new Map();
  #reading: Promise<boolean> | undefined;
  #nextReading: Promise<boolean> | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: WatchedFolderOptions<T>) {
    this.#options = options;
    this.#stopListening = options.session.listen(({ kind }) => {
      if (kind === 'connected') void this.refresh();
    });
    if (options.session.isConnected) void this.refresh();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.#timer?.cancel();
  }

  /** Resolves after a reading that began after this call; with false when it could not be ended. */
  refresh(): Promise<boolean> {
    if (!this.#reading) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
      return this.#reading;
    }
    this.#nextReading ??= this.#reading.then(() => {
      this.#nextReading = undefined;
      return this.refresh();
    });
    return this.#nextReading;
  }

  // One function for all readings: the library keeps one watch for each function.
  readonly #onChange = (): void => {
    if (!this.#isClosed) void this.refresh();
  };

  async #read(): Promise<boolean> {
    const { session, path, onReading } = this.#options;
    this.#timer?.cancel();
    const known = session.isConnected && !this.#isClosed ? await this.#readAll() : undefined;
    if (this.#isClosed) return false;
    if (session.isConnected) {
      this.#timer = session.clock.after(known ? timing.pollMs : timing.retryMs, this.#onChange);
    }
    if (!known) return false;
    for (const [name, decoded] of known) {
      if (decoded.kind !== 'foreign' || this.#known.has(name)) continue;
      this.#options.onProblem(`${session.root}${path}/${name} is left out: ${decoded.why}`);
    }
    this.#known = known;
    const entries = new Map<string, T>();
    for (const [name, decoded] of known) if (decoded.kind === 'entry') entries.set(name, decoded.entry);
    onReading(entries);
    return true;
  }

  /** undefined when it could not be ended. */
  async #readAll(): Promise<ReadonlyMap<string, Decoded<T>> | undefined> {
    const { session, path, onProblem } = this.#options;
    let list = await session.children(path, this.#onChange);
    if (list.kind === 'absent') {
      await session.ensure(path);
      list = await session.children(path, this.#onChange);
    }
    if (list.kind !== 'done') {
      if (list.kind !== 'unavailable') onProblem(`${session.root}${path} can't be read: ${explain(list)}`);
      return undefined;
    }
    const names = [...list.value.names].sort();
    const decoded = await Promise.all(names.map(async (name) => this.#known.get(name) ?? this.#readOne(name)));
    const known = new Map<string, Decoded<T>>();
    for (const [index, name] of names.entries()) {
      const one = decoded[index];
      if (one === undefined) return undefined;
      // Gone since the names were read: the watch brings another reading.
      if (one !== 'absent') known.set(name, one);
    }
    return known;
  }

  async #readOne(name: string): Promise<Decoded<T> | 'absent' | undefined> {
    const { session, path, decode } = this.#options;
    const answer: Answer<{ data: Uint8Array }> = await session.read(`${path}/${name}`);
    if (answer.kind === 'done') return decode(answer.value.data);
    if (answer.kind === 'absent') return 'absent';
    return answer.kind === 'unavailable' ? undefined : { kind: 'foreign', why: explain(answer) };
  }
}
