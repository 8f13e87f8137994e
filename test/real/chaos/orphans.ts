// Whatever ends the harness, its processes end too and its folder goes: another process sees to that when the harness is gone. It
// works for stopped processes as well, which could not see to it themselves.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('orphans-process.ts', import.meta.url));

/** What the harness tells the other process. */
export type OrphanNote = { readonly born: number } | { readonly gone: number } | { readonly folder: string };

export class Orphans {
  readonly #process: ChildProcess;

  constructor() {
    // In a group of its own: Ctrl-C in a terminal is for the harness, and must not reach what cleans up after it.
    this.#process = fork(script, { detached: true, stdio: 'ignore' });
  }

  born(pid: number): void {
    this.#tell({ born: pid });
  }

  gone(pid: number): void {
    this.#tell({ gone: pid });
  }

  /** To be removed with all that is in it. */
  leave(folder: string): void {
    this.#tell({ folder });
  }

  /** Ends what is left now. */
  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }

  #tell(note: OrphanNote): void {
    this.#process.send(note);
  }
}
