// Keeps the flow of an item that has none yet; answers the one that stands.

import type { AssignResult } from '../../assignments.ts';
import { absent, put, valueOf } from '../cells.ts';
import type { Row } from '../client/port.ts';
import { column } from '../columns.ts';
import type { Attempt, QueuedWrite } from '../shard-queue.ts';
import type { Answering } from './write-memory.ts';

export class AssignmentWrite implements QueuedWrite {
  readonly key: string;
  readonly bytes: number;
  readonly #row: Buffer;
  readonly #flow: string;
  readonly #answering: Answering<AssignResult>;
  /** Another flow stands: it has to be read. */
  #isTaken = false;

  constructor(row: Buffer, flow: string, answering: Answering<AssignResult>) {
    this.key = row.toString('latin1');
    this.bytes = row.length;
    this.#row = row;
    this.#flow = flow;
    this.#answering = answering;
  }

  reads(): readonly Buffer[] {
    return this.#isTaken ? [this.#row] : [];
  }

  /** What was once written stays, so a row that is read tells the truth; a read that is older than the refusal is repeated. */
  attempt([row]: readonly (Row | undefined)[]): Attempt | undefined {
    const standing = row && valueOf(row, column.value);
    if (standing) {
      this.#answering.resolve({ kind: 'done', flow: standing.toString() });
      return undefined;
    }
    const mutations = [put(this.#row, 1, [[column.value, Buffer.from(this.#flow)]])];
    return { conditions: [absent(this.#row, column.value)], mutations, alarms: [] };
  }

  done(): void {
    this.#answering.resolve({ kind: 'done', flow: this.#flow });
  }

  refused(): boolean {
    this.#isTaken = true;
    return true;
  }

  failed(cause: string): void {
    this.#answering.resolve({ kind: 'unknown', cause });
  }

  broken(bug: unknown): void {
    this.#answering.reject(bug);
  }
}
