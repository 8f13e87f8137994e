// Which entries were changed, in order: every put adds a node with the entry's path in the same transaction. Whoever wants to hear of
// changes watches this one folder, not each entry, so that it costs the same however many there are.
//
// Invariants:
//   L1  The numbers of the nodes have no gaps, since the servers count what is made and nothing is made but by a put.
//   L2  Each change after the first reading is told once, in order; where nodes are missing, since they were removed before this
//       process could read them, `onGap` is told instead.

import { changesPath } from './configuration-tree.ts';
import type { ZooKeeperSession } from './session.ts';
import { type Decoded, WatchedFolder } from './watched-folder.ts';

/** Changes that stay, and up to how many there may be before the older ones go. A process that was away for longer compares all. */
const maxKept = 256;
const maxBeforeTrim = 512;

/** Numbers of a name that ZooKeeper gives: ten digits at its end. */
const nameForm = /^c-(\d{10})$/;
export const changePrefix = `${changesPath}/c-`;

export interface ChangeLogOptions {
  readonly session: ZooKeeperSession;
  readonly onChange: (path: string) => void;
  readonly onGap: () => void;
  readonly onProblem: (problem: string) => void;
}

export class ChangeLog {
  readonly #options: ChangeLogOptions;
  readonly #folder: WatchedFolder<string>;
  /** The number of the last change that was told; undefined before the first reading, −1 when there was none then. */
  #told: number | undefined;
  #names: readonly string[] = [];
  #isForgotten = false;

  constructor(options: ChangeLogOptions) {
    this.#options = options;
    const { session, onProblem } = options;
    const onReading = (changes: ReadonlyMap<string, string>) => this.#read(changes);
    this.#folder = new WatchedFolder({ session, path: changesPath, decode: decodePath, onReading, onProblem });
  }

  close(): void {
    this.#folder.close();
  }

  /** Resolves when every change that was made before is told, or ZooKeeper can't be reached. */
  async refresh(): Promise<void> {
    await this.#folder.refresh();
  }

  /** What was told is no longer sure: the next reading tells of a gap. */
  forget(): void {
    this.#isForgotten = true;
  }

  /** Removes old changes when there are many. What it can't remove now stays for the next time. */
  async trim(): Promise<void> {
    if (this.#names.length <= maxBeforeTrim) return;
    const old = this.#names.slice(0, -maxKept);
    await Promise.all(
      old.map((name) => this.#options.session.change([{ kind: 'remove', path: `${changesPath}/${name}` }])),
    );
  }

  #read(changes: ReadonlyMap<string, string>): void {
    this.#names = [...changes.keys()].filter((name) => nameForm.test(name)).sort();
    const told = this.#told;
    const newest = numberOf(this.#names.at(-1));
    this.#told = Math.max(newest, told ?? newest);
    if (told === undefined) return;
    const news = this.#names.filter((name) => numberOf(name) > told);
    const isGap = news.length < newest - told;
    // Numbers that fall: the tree was set back or made anew.
    const isAnew = newest < told;
    if (isAnew) this.#told = newest;
    const isForgotten = this.#isForgotten;
    this.#isForgotten = false;
    if (isGap || isAnew || isForgotten) return this.#options.onGap();
    for (const name of news) this.#options.onChange(changes.get(name) ?? '');
  }
}

function numberOf(name: string | undefined): number {
  return name === undefined ? -1 : Number(nameForm.exec(name)?.[1] ?? -1);
}

function decodePath(data: Uint8Array): Decoded<string> {
  return { kind: 'entry', entry: Buffer.from(data).toString() };
}
