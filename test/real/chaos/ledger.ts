// What the modules themselves write down about every call, one line each, before they work and before they answer. A line goes out
// in one write to a file that is only ever appended to, so it survives the process. A kill may tear the line that is being
// written; whoever comes next begins a new one, and a torn line stands for a call that nobody has answered.

import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface LedgerLine {
  readonly event: 'received' | 'answered';
  readonly callKey: string;
  /** The item's key. */
  readonly key: string;
  readonly step: string;
  readonly attempt: number;
  readonly epoch: number;
  /** A return code; of an answer. */
  readonly code?: number;
  /** Of an answer. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly pid: number;
}

export class Ledger {
  readonly #file: number;

  /** Appends to a file of the folder; one process at a time may have it open. */
  constructor(folder: string, name: string) {
    this.#file = openSync(join(folder, `${name}.jsonl`), 'a');
  }

  write(line: LedgerLine): void {
    // The break comes first, so that a torn line before it stays a line of its own.
    writeSync(this.#file, `\n${JSON.stringify(line)}`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** All lines of all files; a torn one is left out. */
export function* readLedgers(folder: string): Generator<LedgerLine> {
  for (const name of readdirSync(folder)) {
    for (const text of readFileSync(join(folder, name), 'utf8').split('\n')) {
      const line = text === '' ? undefined : parse(text);
      if (line) yield line;
    }
  }
}

function parse(text: string): LedgerLine | undefined {
  try {
    return JSON.parse(text) as LedgerLine;
  } catch {
    return undefined;
  }
}
