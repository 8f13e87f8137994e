// A process of a module, at one address: it works on requests, and may die in the middle of them, stand still, or say that it
// doesn't serve.
//
// Owns the requests that it works on. Each ends once: it is finished, or lost with the process.

import { Health } from '../../../proto/gen/weir/directory/v1/directory_pb.js';
import type { VirtualTime } from './time.ts';

export interface Work {
  readonly takesMs: number;
  finish(): void;
  lost(): void;
}

export class ModuleProcess {
  readonly address: string;
  readonly #time: VirtualTime;
  readonly #works = new Set<Work>();
  readonly #watchers = new Set<() => void>();
  #isUp = true;
  #isServing = true;
  #pausedUntilMs = 0;

  constructor(time: VirtualTime, address: string) {
    this.#time = time;
    this.address = address;
  }

  get health(): Health {
    if (!this.#isUp) return Health.UNREACHABLE;
    return this.#isServing ? Health.SERVING : Health.NOT_SERVING;
  }

  /** Calls `listener` after each change of its health, for ever. */
  watch(listener: () => void): void {
    this.#watchers.add(listener);
  }

  begin(work: Work): void {
    if (!this.#isUp) return work.lost();
    this.#works.add(work);
    this.#time.after(work.takesMs, () => this.#due(work));
  }

  /** Dies, with all that it works on; another starts in its place after a while. */
  crash(downMs: number): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    for (const work of this.#works) {
      this.#works.delete(work);
      work.lost();
    }
    this.#changed();
    this.#time.after(downMs, () => this.start());
  }

  start(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#changed();
  }

  pause(durationMs: number): void {
    this.#pausedUntilMs = this.#time.elapsedMs + durationMs;
  }

  serve(isServing: boolean): void {
    if (this.#isServing === isServing) return;
    this.#isServing = isServing;
    this.#changed();
  }

  #due(work: Work): void {
    const leftMs = this.#pausedUntilMs - this.#time.elapsedMs;
    if (leftMs > 0) return this.#time.after(leftMs, () => this.#due(work));
    if (this.#works.delete(work)) work.finish();
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
