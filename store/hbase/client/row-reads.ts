// Reads single rows, one or many.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { NameBytesPair, RegionActionSchema, ResultOrException } from '../../../proto/gen/hbase/client_pb.js';
import type { Connections } from './connections.ts';
import { reactionTo, serverException } from './exception-classes.ts';
import type { Locator } from './locator.ts';
import { get, multi } from './methods.ts';
import { type Patience, type Try, untilDone } from './patience.ts';
import type { ReadOptions, Region, Row } from './port.ts';
import { learn, learnOfServer, tryOf, tryOfException } from './region-calls.ts';
import { bufferOf, readMessage, regionSpecifier, resultsByIndex, rowOf } from './wire.ts';

export interface RowReadsOptions {
  readonly connections: Connections;
  readonly locator: Locator;
  readonly patience: Patience;
}

/** Bounds one answer: the server cuts it at about 100 MB only. */
const maxRowsOfCall = 200;

interface Wanted {
  readonly index: number;
  readonly row: Buffer;
}

interface Located extends Wanted {
  readonly region: Region;
}

export class RowReads {
  readonly #options: RowReadsOptions;

  constructor(options: RowReadsOptions) {
    this.#options = options;
  }

  async get(table: string, row: Buffer, options: ReadOptions): Promise<Row | undefined> {
    const { connections, locator, patience } = this.#options;
    return await untilDone(patience, `a read of table "${table}"`, async (timeoutMs) => {
      const place = await locator.locate(table, row);
      if (place.kind !== 'found') return tryOfSearch(place);
      const region = place.value;
      const request = { region: regionSpecifier(region.name), get: { row, ...readMessage(options) } };
      const answer = tryOf(locator, region, await connections.call(region.address, get, request, timeoutMs));
      return answer.kind === 'done' ? { kind: 'done', value: rowOf(answer.value.result?.cell ?? []) } : answer;
    });
  }

  async getMany(table: string, rows: readonly Buffer[], options: ReadOptions): Promise<readonly (Row | undefined)[]> {
    const results = rows.map((): Row | undefined => undefined);
    let wanted: readonly Wanted[] = rows.map((row, index) => ({ index, row }));
    await untilDone(this.#options.patience, `a read of table "${table}"`, async (timeoutMs) => {
      const missing: Missing[] = [];
      const located = await this.#locate(table, wanted, missing);
      await Promise.all(inCalls(located).map((call) => this.#read(call, options, results, missing, timeoutMs)));
      wanted = missing.map(({ wanted }) => wanted);
      return worst(missing);
    });
    return results;
  }

  async #locate(table: string, wanted: readonly Wanted[], missing: Missing[]): Promise<readonly Located[]> {
    const found = await Promise.all(wanted.map(({ row }) => this.#options.locator.locate(table, row)));
    const located: Located[] = [];
    for (const [position, one] of wanted.entries()) {
      const place = found[position]!;
      if (place.kind === 'found') located.push({ ...one, region: place.value });
      else missing.push({ wanted: one, why: tryOfSearch(place) });
    }
    return located;
  }

  async #read(
    call: readonly Located[],
    options: ReadOptions,
    results: (Row | undefined)[],
    missing: Missing[],
    timeoutMs: number,
  ): Promise<void> {
    const { connections, locator } = this.#options;
    const regions = [...Map.groupBy(call, ({ region }) => region.name.toString('latin1')).values()];
    const message = readMessage(options);
    const request = {
      regionAction: regions.map(
        (wanted): MessageInitShape<typeof RegionActionSchema> => ({
          region: regionSpecifier(wanted[0]!.region.name),
          action: wanted.map(({ row }, index) => ({ index, get: { row, ...message } })),
        }),
      ),
    };
    const { region } = call[0]!;
    const outcome = await connections.call(region.address, multi, request, timeoutMs);
    learnOfServer(locator, region.address, outcome);
    const answer = tryOf(locator, region, outcome);
    if (answer.kind !== 'done') return void missing.push(...call.map((wanted) => ({ wanted, why: answer })));
    for (const [position, wanted] of regions.entries()) {
      const ofRegion = answer.value.regionActionResult[position];
      const answers = resultsByIndex(ofRegion);
      for (const [index, one] of wanted.entries()) {
        const found = answers.get(index);
        const result = this.#resultOf(one.region, ofRegion?.exception ?? found?.exception, found);
        if (result.kind === 'done') results[one.index] = result.value;
        else missing.push({ wanted: one, why: result });
      }
    }
  }

  #resultOf(
    region: Region,
    exception: NameBytesPair | undefined,
    result: ResultOrException | undefined,
  ): Try<Row | undefined> {
    if (exception !== undefined) {
      const found = serverException(exception.name, bufferOf(exception.value).toString());
      learn(this.#options.locator, region, found, reactionTo(found));
      return tryOfException(found, reactionTo(found));
    }
    if (result === undefined) return { kind: 'again', cause: `${region.address} left out a row in its answer` };
    return { kind: 'done', value: rowOf(result.result?.cell ?? []) };
  }
}

interface Missing {
  readonly wanted: Wanted;
  readonly why: Exclude<Try<never>, { kind: 'done' }>;
}

/** A place that was not found, as a try. */
export function tryOfSearch(place: { readonly kind: 'unavailable' | 'absent'; readonly cause: string }) {
  const kind: 'again' | 'refused' = place.kind === 'unavailable' ? 'again' : 'refused';
  return { kind, cause: place.cause };
}

// One row that is refused refuses all; the rest waits for the one that has to.
function worst(missing: readonly Missing[]): Try<void> {
  const whys = missing.map(({ why }) => why);
  const again = whys.find((why) => why.kind === 'again' && why.atOnce !== true);
  return whys.find((why) => why.kind === 'refused') ?? again ?? whys[0] ?? { kind: 'done', value: undefined };
}

function inCalls(located: readonly Located[]): ReadonlyArray<readonly Located[]> {
  const ofServers = Map.groupBy(located, ({ region }) => region.address);
  return [...ofServers.values()].flatMap((ofServer) => {
    const calls = Math.ceil(ofServer.length / maxRowsOfCall);
    return Array.from({ length: calls }, (_, call) => ofServer.slice(call * maxRowsOfCall, (call + 1) * maxRowsOfCall));
  });
}
