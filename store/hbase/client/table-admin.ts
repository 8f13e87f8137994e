// Tables and regions, through the master. What changes a table carries a nonce, so that repeating it is safe: the master
// answers with the procedure that the first request began.

import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { type BytesBytesPair, GetProcedureResultResponse_State } from '../../../proto/gen/hbase/admin_pb.js';
import { delay } from './back-off.ts';
import type { Connections } from './connections.ts';
import { serverException } from './exception-classes.ts';
import type { Locator } from './locator.ts';
import * as methods from './methods.ts';
import { type Patience, type Try, untilDone } from './patience.ts';
import { type HBaseAdmin, HBaseFailure, type NewTable, type Region, type TableDescription } from './port.ts';
import { tryOf, tryOfException } from './region-calls.ts';
import { tryOfSearch } from './row-reads.ts';
import { bufferOf, regionSpecifier } from './wire.ts';

export interface TableAdminOptions {
  readonly connections: Connections;
  readonly locator: Locator;
  readonly patience: Patience;
}

/** A table of hundreds of regions takes a while. */
const procedureTimeoutMs = 120_000;
const pollMs = 50;

export class TableAdmin implements HBaseAdmin {
  readonly #options: TableAdminOptions;

  constructor(options: TableAdminOptions) {
    this.#options = options;
  }

  async createTable(table: string, description: NewTable): Promise<'created' | 'exists'> {
    const request = {
      tableSchema: {
        tableName: tableName(table),
        attributes: pairs(description.attributes),
        columnFamilies: description.families.map(({ name, attributes = {} }) => ({
          name: Buffer.from(name),
          attributes: pairs(attributes),
        })),
      },
      splitKeys: [...description.splitKeys],
      ...this.#nonce(),
    };
    const created = await this.#run(`making table "${table}"`, methods.createTable, request, 'TableExistsException');
    return created ? 'created' : 'exists';
  }

  async describeTable(table: string): Promise<TableDescription | undefined> {
    const request = { tableNames: [tableName(table)] };
    const answer = await this.#askMaster(`describing table "${table}"`, methods.getTableDescriptors, request);
    const [schema] = answer.tableSchema;
    if (schema === undefined) return undefined;
    return {
      families: schema.columnFamilies.map(({ name, attributes }) => ({
        name: bufferOf(name).toString(),
        attributes: record(attributes),
      })),
      attributes: record(schema.attributes),
    };
  }

  async deleteTable(table: string): Promise<'deleted' | 'absent'> {
    const request = { tableName: tableName(table) };
    const disable = { ...request, ...this.#nonce() };
    // Not enabled: disabled already, or being so.
    await this.#run(
      `disabling table "${table}"`,
      methods.disableTable,
      disable,
      'TableNotFoundException',
      'TableNotEnabledException',
    );
    const remove = { ...request, ...this.#nonce() };
    const deleted = await this.#run(`deleting table "${table}"`, methods.deleteTable, remove, 'TableNotFoundException');
    this.#options.locator.forgetTable(table);
    return deleted ? 'deleted' : 'absent';
  }

  async regions(table: string): Promise<readonly Region[]> {
    const { locator, patience } = this.#options;
    return await untilDone(patience, `finding the regions of table "${table}"`, async () => {
      const found = await locator.locateAll(table);
      return found.kind === 'found' ? { kind: 'done', value: found.value } : tryOfSearch(found);
    });
  }

  async closeRegion(region: Region): Promise<void> {
    const request = { region: regionSpecifier(region.name) };
    await this.#askMaster(`closing ${nameOf(region)}`, methods.unassignRegion, request);
  }

  async openRegion(region: Region): Promise<void> {
    const request = { region: regionSpecifier(region.name) };
    await this.#askMaster(`opening ${nameOf(region)}`, methods.assignRegion, request);
    this.#options.locator.forget(region);
  }

  async splitRegion(region: Region, row: Buffer): Promise<void> {
    // Between the second comma and the point stand the region's id and its hash: table,startRow,id.hash.
    const name = region.name.toString('latin1');
    const regionId = BigInt(name.slice(name.lastIndexOf(',') + 1).split('.')[0]!);
    const regionInfo = {
      regionId,
      tableName: tableName(region.table),
      startKey: region.startRow,
      endKey: region.endRow,
    };
    const request = { regionInfo, splitRow: row, ...this.#nonce() };
    await this.#run(`splitting ${nameOf(region)}`, methods.splitRegion, request);
    this.#options.locator.forget(region);
  }

  async flushRegion(region: Region): Promise<void> {
    const request = { region: regionSpecifier(region.name) };
    await this.#askServer(`flushing ${nameOf(region)}`, region, methods.flushRegion, request);
  }

  async compactRegion(region: Region): Promise<void> {
    const request = { region: regionSpecifier(region.name), major: true };
    await this.#askServer(`compacting ${nameOf(region)}`, region, methods.compactRegion, request);
  }

  /** Begins a procedure and waits for its end. False: it ended with one of the exceptions, or couldn't begin for it. */
  async #run<I extends DescMessage>(
    what: string,
    method: methods.Method<I, (typeof methods.createTable)['output']>,
    request: MessageInitShape<I>,
    ...exceptions: readonly string[]
  ): Promise<boolean> {
    const begun = await untilDone<{ procId: bigint } | undefined>(this.#options.patience, what, async (timeoutMs) => {
      const outcome = await this.#tryMaster(method, request, timeoutMs);
      if (outcome.kind !== 'refused' || !exceptions.some((name) => outcome.cause.includes(name))) return outcome;
      return { kind: 'done', value: undefined };
    });
    if (begun === undefined) return false;
    const { clock } = this.#options.patience;
    const giveUpMs = clock.monotonicMs() + procedureTimeoutMs;
    for (;;) {
      const result = await this.#askMaster(what, methods.getProcedureResult, { procId: begun.procId });
      const failure = result.exception?.genericException;
      if (failure !== undefined) {
        const { className } = serverException(failure.className, '');
        if (exceptions.includes(className)) return false;
        throw new HBaseFailure('refused', `${what}: ${className}: ${failure.message}`);
      }
      // A procedure that isn't known any more ended long ago.
      if (result.state !== GetProcedureResultResponse_State.RUNNING) return true;
      if (clock.monotonicMs() > giveUpMs) {
        throw new HBaseFailure('unavailable', `${what}: the master isn't done after ${procedureTimeoutMs} ms`);
      }
      await delay(clock, pollMs);
    }
  }

  async #askMaster<I extends DescMessage, O extends DescMessage>(
    what: string,
    method: methods.Method<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    return await untilDone(this.#options.patience, what, (timeoutMs) => this.#tryMaster(method, request, timeoutMs));
  }

  async #tryMaster<I extends DescMessage, O extends DescMessage>(
    method: methods.Method<I, O>,
    request: MessageInitShape<I>,
    timeoutMs: number,
  ): Promise<Try<MessageShape<O>>> {
    const { connections, locator } = this.#options;
    const master = await locator.locateMaster();
    if (master.kind !== 'found') return tryOfSearch(master);
    const outcome = await connections.call(master.value, method, request, timeoutMs);
    if (outcome.kind === 'answered') return { kind: 'done', value: outcome.value };
    if (outcome.kind === 'exception') return tryOfException(outcome.exception, outcome.reaction);
    return { kind: 'again', cause: outcome.cause };
  }

  async #askServer<I extends DescMessage>(
    what: string,
    region: Region,
    method: methods.Method<I, DescMessage>,
    request: MessageInitShape<I>,
  ): Promise<void> {
    const { connections, locator, patience } = this.#options;
    await untilDone(patience, what, async (timeoutMs) =>
      tryOf(locator, region, await connections.call(region.address, method, request, timeoutMs)),
    );
  }

  #nonce(): { nonceGroup: bigint; nonce: bigint } {
    const { random } = this.#options.patience;
    const number = () => BigInt(1 + Math.floor(random() * 2 ** 52));
    return { nonceGroup: number(), nonce: number() };
  }
}

function tableName(table: string): { namespace: Buffer; qualifier: Buffer } {
  const colon = table.indexOf(':');
  const namespace = colon === -1 ? 'default' : table.slice(0, colon);
  return { namespace: Buffer.from(namespace), qualifier: Buffer.from(table.slice(colon + 1)) };
}

function nameOf(region: Region): string {
  return `region ${region.name.toString('latin1')}`;
}

function pairs(values: Readonly<Record<string, string>>): Array<{ first: Buffer; second: Buffer }> {
  return Object.entries(values).map(([name, value]) => ({ first: Buffer.from(name), second: Buffer.from(value) }));
}

function record(values: readonly BytesBytesPair[]): Record<string, string> {
  return Object.fromEntries(values.map((pair) => [bufferOf(pair.first).toString(), bufferOf(pair.second).toString()]));
}
