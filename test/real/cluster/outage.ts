// A cluster of two dispatches and two spouts that goes through outages of services: some runs are held, which fill the dispatches;
// some items come, which wait and are claimed.

import type { Cluster, Dispatch } from './cluster.ts';
import { becomes } from './conditions.ts';
import type { WeirProcess } from './weir-process.ts';

export interface Outage {
  /** For keys and messages. */
  readonly name: string;
  begin(this: void): Promise<void> | void;
  end(this: void): Promise<void> | void;
  /** What a dispatch says on standard error when it notices; absent: nothing. */
  readonly shows?: string;
  /** What the same one says when it notices that it is over; absent: nothing. */
  readonly showsEnd?: string;
  /** The store is away: nothing is acknowledged and nothing ends before it is back. */
  readonly stops: boolean;
}

/** Runs that a dispatch holds. */
export const weatherMaxRuns = 3;

/** In ms: some of the longest pauses between two tries of anything, on a busy machine. */
const recoversWithinMs = 30_000;

export interface OutageReport {
  /** From the end of the outage until all items have ended, in ms. */
  readonly recoveredMs: number;
}

export class Weather {
  readonly #cluster: Cluster;
  readonly #keys: string[] = [];
  #dispatches: readonly Dispatch[] = [];
  #processes: readonly WeirProcess[] = [];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async start(): Promise<void> {
    this.#dispatches = [this.#cluster.dispatch(1), this.#cluster.dispatch(2)];
    this.#processes = [...this.#dispatches, this.#cluster.spout('spout-1'), this.#cluster.spout('spout-2')];
    await Promise.all(this.#processes.map(({ ready }) => ready));
  }

  /** Throws when an item is lost or wrong, or a process of ours has ended or failed. */
  async survive(outage: Outage): Promise<OutageReport> {
    const name = outage.name.replaceAll(' ', '-').toLowerCase();
    const held = await this.holdSome(`${name}-held`);
    const said = this.#dispatches.map(({ lines }) => lines.length);
    const { sent } = await this.#untilOver(outage, this.#during(outage, name, held, said));
    const endMs = performance.now();
    await sent;
    await this.#first.client.allSucceed(this.#keys, recoversWithinMs);
    const recoveredMs = Math.round(performance.now() - endMs);
    await this.#noticedEnd(outage, said);
    this.#judgeProcesses();
    return { recoveredMs };
  }

  /** The dispatches are full of runs whose calls are out. */
  async holdSome(prefix = 'held'): Promise<readonly string[]> {
    const { module } = this.#cluster;
    module.hold();
    const held = this.#keysOf(prefix, 2 * weatherMaxRuns);
    await this.#submit(held);
    await becomes('they are called', () => held.every((key) => module.calls.some((call) => call.key === key)));
    return held;
  }

  /** Lets go of what the module holds; resolves when every item has succeeded. */
  async allEnd(): Promise<void> {
    this.#cluster.module.letGo();
    await this.#first.client.allSucceed(this.#keys);
  }

  async #untilOver<Answer>({ end }: Outage, during: Promise<Answer>): Promise<Answer> {
    try {
      return await during;
    } finally {
      await end();
    }
  }

  /** Resolves when the outage has been noticed, and what can be done during it is done. */
  async #during(
    { begin, shows, stops }: Outage,
    name: string,
    held: readonly string[],
    linesBefore: readonly number[],
  ): Promise<{ readonly sent: Promise<void> }> {
    await begin();
    const sent = this.#submit(this.#keysOf(`${name}-during`, 10));
    // It is awaited when the outage is over, at the latest.
    sent.catch(() => {});
    this.#cluster.module.letGo();
    await this.#saying(shows, linesBefore);
    if (!stops) {
      await sent;
      await this.#ended(held);
    }
    return { sent };
  }

  async #noticedEnd({ shows, showsEnd }: Outage, linesBefore: readonly number[]): Promise<void> {
    if (showsEnd === undefined) return;
    await becomes(`who noticed says: ${showsEnd}`, async () => {
      const noticed = await this.#saying(shows, linesBefore);
      const relieved = await this.#saying(showsEnd, linesBefore);
      return noticed.every((each) => relieved.includes(each));
    });
  }

  /** The dispatches that have said it since they had said so many lines; at least one. */
  async #saying(text: string | undefined, linesBefore: readonly number[]): Promise<readonly Dispatch[]> {
    if (text === undefined) return [];
    return becomes(`a dispatch says: ${text}`, () => {
      const saying = this.#dispatches.filter(({ lines }, index) => {
        return lines.slice(linesBefore[index]).some((line) => line.includes(text));
      });
      return saying.length > 0 && saying;
    });
  }

  /** Asks all to end; answers their exit codes. */
  async stop(): Promise<Array<number | null>> {
    const ends = await Promise.all(this.#processes.map((each) => each.stop()));
    return ends.map(({ code }) => code);
  }

  get #first(): Dispatch {
    const [first] = this.#dispatches;
    if (!first) throw new Error('there are two');
    return first;
  }

  #keysOf(prefix: string, count: number): string[] {
    const keys = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    this.#keys.push(...keys);
    return keys;
  }

  /** Half of them to each dispatch. */
  async #submit(keys: readonly string[]): Promise<void> {
    await Promise.all(
      this.#dispatches.map(({ client }, turn) => client.submitSurely(keys.filter((_, index) => index % 2 === turn))),
    );
  }

  async #ended(keys: readonly string[]): Promise<void> {
    await becomes('what was held has ended meanwhile', async () => {
      const outcomes = await this.#first.client.outcomes();
      return keys.every((key) => outcomes.get(key)?.startsWith('SUCCEEDED'));
    });
  }

  #judgeProcesses(): void {
    for (const { isRunning, lines } of this.#processes) {
      if (!isRunning) throw new Error(`a process has ended:\n${lines.join('\n')}`);
      const failure = lines.find((line) => /unexpected failure|uncaught/.test(line));
      if (failure !== undefined) throw new Error(failure);
    }
  }
}
