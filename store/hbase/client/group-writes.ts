// Sends groups of mutations: those of one server together, each answered for itself.
//
// W1  A group is sent again only after an answer, or the lack of a connection, that says it was not applied.
// W2  Each group gets one result, and the groups of one server don't wait for those of another.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { NameBytesPair, RegionActionSchema, ResultOrException } from '../../../proto/gen/hbase/client_pb.js';
import type { Connections } from './connections.ts';
import { describe, type Reaction, reactionTo, type ServerException, serverException } from './exception-classes.ts';
import type { Found, Locator } from './locator.ts';
import { multi } from './methods.ts';
import { Attempts, type Patience } from './patience.ts';
import type { GroupResult, Region, RowGroup } from './port.ts';
import { isBefore } from './region-cache.ts';
import { learn, learnOfServer } from './region-calls.ts';
import { bufferOf, isProcessed, mutateRowsRequest, regionSpecifier, resultsByIndex } from './wire.ts';

export interface GroupWritesOptions {
  readonly connections: Connections;
  readonly locator: Locator;
  readonly patience: Patience;
  /** Of one call. A larger group goes by itself. */
  readonly maxBatchBytes: number;
}

/** HBase takes 256 MB in one request by default. */
const maxGroupBytes = 128 * 1024 * 1024;
/** A server works one call off in one thread: more groups would keep the other threads idle. */
const maxBatchGroups = 1_000;

interface Part {
  readonly index: number;
  readonly group: RowGroup;
  readonly request: Uint8Array;
  /** Why it was not applied the last time. */
  readonly cause?: string;
}

interface Located {
  readonly part: Part;
  readonly region: Region;
}

/** Not applied, and worth another try. */
interface Stuck {
  readonly part: Part;
  readonly cause: string;
}

/** What came of one group in one call. */
type Verdict = GroupResult | { readonly kind: 'again'; readonly cause: string };

export class GroupWrites {
  readonly #options: GroupWritesOptions;

  constructor(options: GroupWritesOptions) {
    this.#options = options;
  }

  /** Throws RangeError when a group asks for what HBase can't do. */
  async write(table: string, groups: readonly RowGroup[]): Promise<readonly GroupResult[]> {
    const results = groups.map((): GroupResult => ({ kind: 'notSent', cause: 'not tried' }));
    const parts = groups.map((group, index) => ({ index, group, request: mutateRowsRequest(group) }));
    const fitting = parts.filter(({ request }) => request.length <= maxGroupBytes);
    for (const { index, request } of parts) {
      if (request.length <= maxGroupBytes) continue;
      results[index] = { kind: 'refused', cause: `a group of ${request.length} bytes; ${maxGroupBytes} are allowed` };
    }
    await this.#try(table, fitting, results, new Attempts(this.#options.patience));
    return results;
  }

  async #try(table: string, parts: readonly Part[], results: GroupResult[], attempts: Attempts): Promise<void> {
    const stuck: Stuck[] = [];
    const located = await this.#locate(table, parts, results, stuck);
    await Promise.all([
      this.#tryAgain(table, stuck, results, attempts.fork()),
      ...inBatches(located, this.#options.maxBatchBytes).map(async (batch) => {
        const unsent = await this.#send(batch, results, attempts.callTimeoutMs());
        await this.#tryAgain(table, unsent, results, attempts.fork());
      }),
    ]);
  }

  async #tryAgain(table: string, stuck: readonly Stuck[], results: GroupResult[], attempts: Attempts): Promise<void> {
    if (stuck.length === 0) return;
    if (await attempts.pause()) {
      const parts = stuck.map(({ part, cause }) => ({ ...part, cause }));
      return await this.#try(table, parts, results, attempts);
    }
    for (const { part, cause } of stuck) results[part.index] = { kind: 'notSent', cause };
  }

  async #locate(
    table: string,
    parts: readonly Part[],
    results: GroupResult[],
    stuck: Stuck[],
  ): Promise<readonly Located[]> {
    const found = await Promise.all(parts.map(({ group }) => this.#placeOf(table, group)));
    const located: Located[] = [];
    for (const [position, part] of parts.entries()) {
      const place = found[position]!;
      if (place.kind === 'found') located.push({ part, region: place.value });
      else if (place.kind === 'unavailable') stuck.push({ part, cause: place.cause });
      else results[part.index] = { kind: 'refused', cause: place.cause };
    }
    return located;
  }

  async #placeOf(table: string, group: RowGroup): Promise<Found<Region>> {
    const { locator } = this.#options;
    const known = await locator.locate(table, group.row);
    if (known.kind !== 'found' || holds(known.value, group)) return known;
    // What is known may be older than a merge of regions.
    locator.forget(known.value);
    const found = await locator.locate(table, group.row);
    if (found.kind !== 'found' || holds(found.value, group)) return found;
    return { kind: 'absent', cause: `the rows of a group lie in more than one region of table "${table}"` };
  }

  /** One call to one server. Answers with the groups that were surely not applied. */
  async #send(batch: Batch, results: GroupResult[], timeoutMs: number): Promise<readonly Stuck[]> {
    const { connections, locator } = this.#options;
    const regions = byRegion(batch.parts);
    const request = { regionAction: regions.map(regionActionOf) };
    if (timeoutMs <= 0) return batch.parts.map(({ part }) => ({ part, cause: part.cause ?? 'no time left' }));
    const outcome = await connections.call(batch.address, multi, request, timeoutMs);
    learnOfServer(locator, batch.address, outcome);
    const stuck: Stuck[] = [];
    const settle = ({ part }: Located, verdict: Verdict) => {
      if (verdict.kind === 'again') stuck.push({ part, cause: verdict.cause });
      else results[part.index] = verdict;
    };
    if (outcome.kind === 'answered') {
      for (const [position, parts] of regions.entries()) {
        const answer = outcome.value.regionActionResult[position];
        const answers = resultsByIndex(answer);
        for (const [index, located] of parts.entries()) {
          const result = answers.get(index);
          settle(located, this.#verdict(located, answer?.exception ?? result?.exception, result));
        }
      }
      return stuck;
    }
    for (const located of batch.parts) {
      if (outcome.kind === 'exception') {
        settle(located, verdictOn(outcome.exception, outcome.reaction));
      } else if (outcome.kind === 'lost') settle(located, { kind: 'unknown', cause: outcome.cause });
      else settle(located, { kind: outcome.crowded === true ? 'notSent' : 'again', cause: outcome.cause });
    }
    return stuck;
  }

  #verdict({ region }: Located, exception: NameBytesPair | undefined, result: ResultOrException | undefined): Verdict {
    if (exception !== undefined) {
      const found = serverException(exception.name, bufferOf(exception.value).toString());
      learn(this.#options.locator, region, found, reactionTo(found));
      return verdictOn(found, reactionTo(found));
    }
    if (result?.serviceResult === undefined) {
      return { kind: 'unknown', cause: `${region.address} answered a group with nothing` };
    }
    return { kind: isProcessed(result.serviceResult) ? 'done' : 'conditionFailed' };
  }
}

function holds(region: Region, { mutations, conditions }: RowGroup): boolean {
  const isIn = ({ row }: { readonly row: Buffer }) =>
    isBefore(row, region.endRow) && Buffer.compare(region.startRow, row) <= 0;
  return mutations.every(isIn) && conditions.every(isIn);
}

interface Batch {
  readonly address: string;
  readonly parts: readonly Located[];
}

/** One call each: the groups of a server, up to the limits of a call. */
function inBatches(located: readonly Located[], maxBytes: number): readonly Batch[] {
  const batches: Batch[] = [];
  const open = new Map<string, { parts: Located[]; bytes: number }>();
  for (const one of located) {
    const { address } = one.region;
    let batch = open.get(address);
    const bytes = one.part.request.length;
    if (batch === undefined || batch.bytes + bytes > maxBytes || batch.parts.length >= maxBatchGroups) {
      batch = { parts: [], bytes: 0 };
      open.set(address, batch);
      batches.push({ address, parts: batch.parts });
    }
    batch.parts.push(one);
    batch.bytes += bytes;
  }
  return batches;
}

function byRegion(parts: readonly Located[]): ReadonlyArray<readonly Located[]> {
  return [...Map.groupBy(parts, ({ region }) => region.name.toString('latin1')).values()];
}

function regionActionOf(parts: readonly Located[]): MessageInitShape<typeof RegionActionSchema> {
  return {
    region: regionSpecifier(parts[0]!.region.name),
    action: parts.map(({ part }, index) => ({
      index,
      serviceCall: {
        row: part.group.row,
        serviceName: 'MultiRowMutationService',
        methodName: 'MutateRows',
        request: part.request,
      },
    })),
  };
}

function verdictOn(exception: ServerException, reaction: Reaction): Verdict {
  const cause = describe(exception);
  switch (reaction) {
    case 'elsewhere':
    case 'later':
    case 'atOnce':
      return { kind: 'again', cause };
    case 'refused':
      return { kind: 'refused', cause };
    case 'reopen':
    case 'unclear':
      return { kind: 'unknown', cause };
  }
}
