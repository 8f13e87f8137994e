// Reads and writes the table `assignment` of runs.db. Writes happen inside a transaction of GroupCommit.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { latin1Bytes } from '../../flow/run-id.ts';

export class AssignmentTable {
  readonly #select: StatementSync;
  readonly #insert: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare('SELECT flow FROM assignment WHERE item = ?');
    this.#insert = database.prepare('INSERT INTO assignment (item, flow) VALUES (?, ?) ON CONFLICT DO NOTHING');
  }

  get(business: string, itemKey: Uint8Array): string | undefined {
    const row = this.#select.get(nameOf(business, itemKey));
    return row && String(row['flow']);
  }

  /** Answers the flow that stands. */
  put(business: string, itemKey: Uint8Array, flow: string): string {
    const { changes } = this.#insert.run(nameOf(business, itemKey), flow);
    return changes === 0 ? (this.get(business, itemKey) ?? flow) : flow;
  }
}

/** `business/key` in bytes; names of business lines contain no slash. */
function nameOf(business: string, itemKey: Uint8Array): Uint8Array {
  const prefix = latin1Bytes(`${business}/`);
  const name = new Uint8Array(prefix.length + itemKey.length);
  name.set(prefix);
  name.set(itemKey, prefix.length);
  return name;
}
