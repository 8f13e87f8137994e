// Which row a run is: what most writes would otherwise look up in the index first. A run keeps its number for ever, so what
// is remembered can't grow old; only a transaction that is rolled back takes numbers back.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '../../flow/run.ts';
import { identityOf, runParts } from '../../flow/run-id.ts';

/** Runs whose number is remembered: more than are in flight at a time; 16 MB with the longest keys. */
const maxRemembered = 16_384;

export class RunNumbers {
  readonly #remembered = new Map<RunId, number>();
  readonly #select: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare('SELECT id FROM run WHERE identity = ? AND generation = ?');
  }

  find(run: RunId): number | undefined {
    const remembered = this.#remembered.get(run);
    if (remembered !== undefined) return remembered;
    const found = this.#select.get(identityBytes(identityOf(run)), runParts(run).generation);
    if (!found) return undefined;
    const number = Number(found['id']);
    this.note(run, number);
    return number;
  }

  note(run: RunId, number: number): void {
    if (this.#remembered.size >= maxRemembered) {
      for (const oldest of this.#remembered.keys()) {
        this.#remembered.delete(oldest);
        break;
      }
    }
    this.#remembered.set(run, number);
  }

  forgetAll(): void {
    this.#remembered.clear();
  }
}

/** As a blob: SQLite compares blobs byte by byte, zeros included. */
export function identityBytes(identity: string): Uint8Array {
  return Buffer.from(identity, 'latin1');
}
