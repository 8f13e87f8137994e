// Partitions in one direction: for a while nothing that one sends comes to the other.
//
// Owns which ways are cut, and until when. Whoever carries something over a way asks.

import type { VirtualTime } from './time.ts';

/** Ends of ways that are no process of the installation. A module's process is named by its address. */
export const theStore = 'store';
export const theLocks = 'locks';
export const clients = 'clients';

export class Cuts {
  readonly #time: VirtualTime;
  readonly #untilMs = new Map<string, number>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  cut(from: string, to: string, durationMs: number): void {
    this.#untilMs.set(way(from, to), this.#time.elapsedMs + durationMs);
  }

  isCut(from: string, to: string): boolean {
    return (this.#untilMs.get(way(from, to)) ?? 0) > this.#time.elapsedMs;
  }

  heal(): void {
    this.#untilMs.clear();
  }
}

function way(from: string, to: string): string {
  return `${from}→${to}`;
}
