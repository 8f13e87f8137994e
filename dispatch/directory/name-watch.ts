// The addresses of one name of the DNS, looked up again and again.
//
// Owns what is known of them.
//
// Invariants:
//   N1  What was known last stands while nobody knows better: when a look-up fails, and until the server has said `nonesToBelieve` times
//       in a row that there are none.
//   N2  At most one look-up is out, and the next one begins a pause after it.
//   N3  Only allowed addresses are answered.
//   N4  After `stop` nothing is told.

import type { Clock, Timer } from '../../platform/clock/clock.ts';
import type { Address } from '../modules/address.ts';
import type { AllowedAddresses } from '../modules/allowed-addresses.ts';
import { type DnsName, resolvedAddress } from '../modules/dns-name.ts';
import { maxEndpoints } from '../modules/endpoint-setting.ts';
import type { NameAnswer, NameResolver } from './name-resolver.ts';

/** Pause after an answer, in ms: as long as the server vouches for it, within these bounds. A name that changes is followed within half a minute. */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Servers that are starting say that a name isn't there. */
const nonesToBelieve = 3;
/** Part of a pause that is left to chance, so that names of one file aren't asked for at once for ever. */
const varied = 0.2;

export interface NameWatchOptions {
  readonly name: DnsName;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly resolver: NameResolver;
  readonly allowed: AllowedAddresses;
  /** The addresses have changed. */
  readonly changed: () => void;
  /** Something that a person should know; told once until it has changed. */
  readonly warn: (message: string) => void;
}

export class NameWatch {
  readonly #options: NameWatchOptions;
  #addresses: readonly Address[] = [];
  #failures = 0;
  #nones = 0;
  #warned = '';
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: NameWatchOptions) {
    this.#options = options;
  }

  get addresses(): readonly Address[] {
    return this.#addresses;
  }

  start(): void {
    void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const { name, resolver, clock, random } = this.#options;
    const answer = await resolver.resolve(name.host);
    if (this.#isStopped) return;
    const pauseMs = this.#hear(answer);
    this.#timer = clock.after(pauseMs * (1 - varied * random()), () => void this.#look());
  }

  /** Answers the pause until the next look-up. */
  #hear(answer: NameAnswer): number {
    const { host } = this.#options.name;
    this.#nones = answer.kind === 'none' ? this.#nones + 1 : 0;
    this.#failures = answer.kind === 'failed' ? this.#failures + 1 : 0;
    switch (answer.kind) {
      case 'failed':
        this.#warn(`${host} could not be looked up (${shown(answer.cause)}); the last known addresses stand`);
        return Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(this.#failures - 1, 10));
      case 'none':
        this.#warn(`${host} has no addresses, says the DNS`);
        if (this.#nones >= nonesToBelieve) this.#set([]);
        return Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(this.#nones - 1, 10));
      case 'resolved':
        this.#set(this.#allowedOf(answer.ips));
        return Math.min(longestPauseMs, Math.max(shortestPauseMs, answer.ttlMs));
    }
  }

  #allowedOf(ips: readonly string[]): readonly Address[] {
    const { name, allowed } = this.#options;
    const problems: string[] = [];
    const addresses = new Map<string, Address>();
    for (const ip of ips.toSorted()) {
      const reading = resolvedAddress(name, ip);
      const problem = reading.ok ? allowed.problem(reading.address) : reading.problem;
      if (problem !== undefined) problems.push(problem);
      else if (reading.ok && addresses.size < maxEndpoints) addresses.set(reading.address.text, reading.address);
    }
    if (problems[0] === undefined) this.#warned = '';
    else this.#warn(`${name.host}: ${problems[0]}${problems.length > 1 ? `, and ${problems.length - 1} more` : ''}`);
    return [...addresses.values()];
  }

  #set(addresses: readonly Address[]): void {
    const textOf = (list: readonly Address[]): string => list.map(({ text }) => text).join();
    const isSame = textOf(addresses) === textOf(this.#addresses);
    this.#addresses = addresses;
    if (!isSame) this.#options.changed();
  }

  #warn(message: string): void {
    if (message === this.#warned) return;
    this.#warned = message;
    this.#options.warn(message);
  }
}

function shown(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
