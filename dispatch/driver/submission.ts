// Taking items in: each becomes a run that is durable before its sender hears of it, and starts at once when there is room.

import type { Plan } from '../../flow/plan.ts';
import type { FieldValue, RunId } from '../../flow/run.ts';
import { identity, printableKey, runId, runParts } from '../../flow/run-id.ts';
import { isTerminal } from '../../flow/standing.ts';
import { ConfigurationUnavailable } from '../../platform/coordination/configuration.ts';
import type { RunHead } from '../../store/port.ts';
import { creationHash as hashOf } from './creation-hash.ts';
import type { DispatchPorts } from './ports.ts';
import type { Created, RunCreation } from './run-creation.ts';

/** An item whose shape was checked (services/item.ts). */
export interface CheckedItem {
  readonly business: string;
  /** Absent: the routes of the business line choose. */
  readonly flow?: string;
  readonly key: Uint8Array;
  readonly level: number;
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly expectedGeneration?: number;
}

export type Submitted =
  | { readonly kind: 'accepted'; readonly run: RunId; readonly created: boolean }
  | { readonly kind: 'refused'; readonly why: RefusalKind; readonly field: string; readonly message: string };

/** An item of which it is known which flow it goes to. */
export type FlowItem = CheckedItem & { readonly flow: string };

export type RefusalKind = 'unrouted' | 'unknown flow' | 'invalid' | 'conflict' | 'generation' | 'unavailable';

export class Submission {
  readonly #ports: DispatchPorts;
  readonly #creation: RunCreation;

  constructor(ports: DispatchPorts, creation: RunCreation) {
    this.#ports = ports;
    this.#creation = creation;
  }

  /** An item of a flow that isn't known while the configuration is away is refused for itself: others of its message go their way. */
  async submit(item: CheckedItem): Promise<Submitted> {
    try {
      return await this.#routed(item);
    } catch (error) {
      if (error instanceof ConfigurationUnavailable) return refused('unavailable', '', error.message);
      throw error;
    }
  }

  async #routed(item: CheckedItem): Promise<Submitted> {
    const { flow } = item;
    if (flow !== undefined) return this.#submit({ ...item, flow });
    const routed = await this.#ports.routing.flowOf(item);
    return routed.kind === 'flow' ? this.#submit({ ...item, flow: routed.flow }) : routed;
  }

  async #submit(item: FlowItem): Promise<Submitted> {
    const plan = await this.#ports.plans.released(item.flow, item);
    if (!plan) return refused('unknown flow', 'flow', `no released flow is named ${JSON.stringify(item.flow)}`);
    if (plan.business !== item.business) {
      const message = `flow ${item.flow} belongs to business ${plan.business}, found ${JSON.stringify(item.business)}`;
      return refused('invalid', 'business', message);
    }
    const creationHash = hashOf(item.fields);
    if (item.expectedGeneration !== undefined && item.expectedGeneration > 0) {
      return this.#nextGeneration(plan, item, creationHash, item.expectedGeneration);
    }
    const created = await this.#create(plan, item, creationHash, 1);
    if (created.kind === 'done') return { kind: 'accepted', run: created.run, created: true };
    if (created.kind === 'unavailable') return unavailable();
    return this.#existing(item, creationHash);
  }

  async #nextGeneration(plan: Plan, item: FlowItem, creationHash: Uint8Array, expected: number): Promise<Submitted> {
    const { store } = this.#ports;
    const { business, flow, key: itemKey } = item;
    const run = runId({ business, flow, itemKey, generation: expected + 1 });
    // The write itself compares what is expected with what is there: a read may be old.
    const former = runId({ business, flow, itemKey, generation: expected });
    const created = await this.#create(plan, item, creationHash, expected + 1, former);
    switch (created.kind) {
      case 'done':
        return { kind: 'accepted', run, created: true };
      case 'unavailable':
        return unavailable();
      case 'exists':
        // Perhaps this very submission, sent again because its answer got lost.
        return this.#compare(run, await store.peek(run), creationHash);
      case 'refused':
        return this.#unexpected(item, expected);
    }
  }

  async #unexpected({ business, flow, key }: FlowItem, expected: number): Promise<Submitted> {
    const newest = await this.#ports.store.newest(identity(business, flow, key));
    const found = newest === undefined ? 0 : runParts(newest).generation;
    const message =
      found === expected
        ? `generation ${expected} has not ended, or was superseded already`
        : `the newest generation is ${found}, found ${expected}`;
    return refused('generation', 'expected_generation', message);
  }

  async #existing(item: FlowItem, creationHash: Uint8Array): Promise<Submitted> {
    const { store } = this.#ports;
    const newest = await store.newest(identity(item.business, item.flow, item.key));
    if (newest === undefined) return unavailable();
    return this.#compare(newest, await store.peek(newest), creationHash);
  }

  #compare(run: RunId, head: RunHead | undefined, creationHash: Uint8Array): Submitted {
    if (!head) return unavailable();
    if (sameBytes(head.control.creationHash, creationHash)) return { kind: 'accepted', run, created: false };
    const { itemKey, flow, generation, status } = head.control;
    const again = isTerminal(status.state) ? `; to run it again expect generation ${generation}` : '';
    const message = `item ${printableKey(itemKey)} is in flow ${flow} already (generation ${generation}) with other fields${again}`;
    return refused('conflict', 'fields', message);
  }

  #create(
    plan: Plan,
    { key, level, fields }: CheckedItem,
    creationHash: Uint8Array,
    generation: number,
    supersedes?: RunId,
  ): Promise<Created> {
    const item = { itemKey: key, level, fields, generation, creationHash };
    return this.#creation.create(plan, { ...item, ...(supersedes && { supersedes }) });
  }
}

function refused(why: RefusalKind, field: string, message: string): Submitted {
  return { kind: 'refused', why, field, message };
}

function unavailable(): Submitted {
  return refused('unavailable', '', 'the store did not answer; send the same item again');
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
