// One scanner of the server: it reads one region, as it was when its first batch was asked for.
//
// It owns the scanner at the server.
// R1  One call at a time: a renewal of the lease counts.
// R2  After an outcome that isn't a batch it is not used again.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock, Timer } from '../../../platform/clock/clock.ts';
import type { Result, ScanRequestSchema, ScanSchema } from '../../../proto/gen/hbase/client_pb.js';
import type { Outcome } from './connection.ts';
import type { Connections } from './connections.ts';
import { scan } from './methods.ts';
import type { Region } from './port.ts';
import { regionSpecifier } from './wire.ts';

export interface RegionScannerOptions {
  readonly connections: Connections;
  readonly clock: Clock;
  readonly region: Region;
  readonly scan: MessageInitShape<typeof ScanSchema>;
  readonly batchRows: number;
}

export interface Batch {
  /** Rows, or parts of rows: a row goes on where the next result is of the same one. May be none: the server is still looking. */
  readonly results: readonly Result[];
  /** `region`: this region is read to its end. `all`: so is the range, or the limit is reached. */
  readonly end?: 'region' | 'all';
}

/** A third of the lease leaves time for a second try. */
const leaseShare = 3;

export class RegionScanner {
  readonly #options: RegionScannerOptions;
  #id: bigint | undefined;
  #sequence = 0n;
  #leaseMs = 0;
  #renewTimer: Timer | undefined;
  /** A call of the owner is under way, or was the last: no renewal may begin. */
  #busy = false;
  #renewal: Promise<unknown> = Promise.resolve();

  constructor(options: RegionScannerOptions) {
    this.#options = options;
  }

  /** `limitRows` 0: as many as there are. Never rejects. */
  async next(limitRows: number, timeoutMs: number): Promise<Outcome<Batch>> {
    await this.#claim();
    const { connections, region, scan: scanMessage, batchRows } = this.#options;
    const target = this.#id === undefined ? { region: regionSpecifier(region.name), scan: scanMessage } : this.#named();
    const request = {
      ...target,
      numberOfRows: batchRows,
      limitOfRows: limitRows,
      nextCallSeq: this.#sequence,
      clientHandlesPartials: true,
      clientHandlesHeartbeats: true,
    };
    const outcome = await connections.call(region.address, scan, request, timeoutMs);
    if (outcome.kind !== 'answered') {
      if (outcome.kind === 'exception') this.#id = undefined;
      return outcome;
    }
    const answer = outcome.value;
    this.#sequence += 1n;
    this.#id = answer.scannerId;
    this.#leaseMs = answer.ttl;
    const end = answer.moreResults ? (answer.moreResultsInRegion ? undefined : 'region') : 'all';
    // The server closes by itself what is at its end.
    if (end !== undefined) this.#id = undefined;
    else this.#release(timeoutMs);
    return { kind: 'answered', value: { results: answer.results, ...(end !== undefined && { end }) } };
  }

  /** Tells the server, which would notice at the end of the lease in any case. */
  async close(timeoutMs: number): Promise<void> {
    await this.#claim();
    if (this.#id === undefined) return;
    const request = { ...this.#named(), numberOfRows: 0, closeScanner: true };
    this.#id = undefined;
    await this.#options.connections.call(this.#options.region.address, scan, request, timeoutMs);
  }

  async #claim(): Promise<void> {
    this.#busy = true;
    this.#renewTimer?.cancel();
    await this.#renewal;
  }

  #release(timeoutMs: number): void {
    this.#busy = false;
    this.#renewLater(timeoutMs);
  }

  #renewLater(timeoutMs: number): void {
    if (this.#leaseMs === 0) return;
    this.#renewTimer = this.#options.clock.after(this.#leaseMs / leaseShare, () => {
      this.#renewal = this.#renew(timeoutMs);
    });
  }

  // A failure shows at the next batch.
  async #renew(timeoutMs: number): Promise<void> {
    const { connections, region } = this.#options;
    const request = { ...this.#named(), numberOfRows: 0, renew: true };
    await connections.call(region.address, scan, request, timeoutMs);
    if (!this.#busy) this.#renewLater(timeoutMs);
  }

  #named(): MessageInitShape<typeof ScanRequestSchema> {
    return this.#id === undefined ? {} : { scannerId: this.#id };
  }
}
