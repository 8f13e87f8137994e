// Taking items in: each becomes a run that is durable before its sender hears of it, and starts at once when there is room.

import { hash } from 'node:crypto';
import { mergeChanges } from '../../flow/change.ts';
import { decideAll } from '../../flow/decide.ts';
import { newRun } from '../../flow/new-run.ts';
import type { Plan } from '../../flow/plan.ts';
import type { FieldValue, Run, RunId } from '../../flow/run.ts';
import { identity, printableKey, runId, runParts } from '../../flow/run-id.ts';
import { isTerminal } from '../../flow/standing.ts';
import type { CreateWrite, RunHead } from '../../store/port.ts';
import { makeCertain } from './certain-write.ts';
import type { Holding } from './holding.ts';
import type { SpoutLinks } from './spout-links.ts';

/** An item whose shape was checked (services/item.ts). */
export interface CheckedItem {
  readonly business: string;
  readonly flow: string;
  readonly key: Uint8Array;
  readonly level: number;
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly expectedGeneration?: number;
}

export type Submitted =
  | { readonly kind: 'accepted'; readonly run: RunId; readonly created: boolean }
  | { readonly kind: 'refused'; readonly why: RefusalKind; readonly field: string; readonly message: string };

type Created = { readonly kind: 'done'; readonly run: RunId } | { readonly kind: 'exists' | 'refused' | 'unavailable' };

export type RefusalKind = 'unknown flow' | 'invalid' | 'conflict' | 'generation' | 'unavailable';

export class Submission {
  readonly #holding: Holding;
  readonly #links: SpoutLinks;
  #lastOrder = 0;

  constructor(holding: Holding, links: SpoutLinks) {
    this.#holding = holding;
    this.#links = links;
  }

  async submit(item: CheckedItem): Promise<Submitted> {
    const plan = await this.#holding.ports.plans.released(item.flow);
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

  async #nextGeneration(plan: Plan, item: CheckedItem, creationHash: Uint8Array, expected: number): Promise<Submitted> {
    const { store } = this.#holding.ports;
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

  async #unexpected({ business, flow, key }: CheckedItem, expected: number): Promise<Submitted> {
    const newest = await this.#holding.ports.store.newest(identity(business, flow, key));
    const found = newest === undefined ? 0 : runParts(newest).generation;
    const message =
      found === expected
        ? `generation ${expected} has not ended, or was superseded already`
        : `the newest generation is ${found}, found ${expected}`;
    return refused('generation', 'expected_generation', message);
  }

  async #existing(item: CheckedItem, creationHash: Uint8Array): Promise<Submitted> {
    const { store } = this.#holding.ports;
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

  async #create(
    plan: Plan,
    item: CheckedItem,
    creationHash: Uint8Array,
    generation: number,
    supersedes?: RunId,
  ): Promise<Created> {
    const { clock, ids } = this.#holding.ports;
    const { key: itemKey, level, fields } = item;
    const nowMs = clock.nowMs();
    const order = this.#order(nowMs);
    const { run, changes } = newRun(plan, { itemKey, generation, level, order, creationHash, fields, nowMs });
    const write = { run: run.id, writeId: ids.next(), changes, ...(supersedes && { supersedes }) };
    const giveBack = this.#reserve(run.id, level, run.control.inputBytes);
    if (!giveBack) {
      this.#links.noteWaiting(level);
      return this.#certainCreate({ ...write, entries: { ready: true, timerMs: run.control.deadlineMs } });
    }
    try {
      return await this.#createClaimed(plan, run, write);
    } finally {
      giveBack();
    }
  }

  /** One write creates the run, claims it and begins its first steps. */
  async #createClaimed(plan: Plan, initial: Run, write: Omit<CreateWrite, 'entries'>): Promise<Created> {
    const { holder, leaseMs } = this.#holding.claimant();
    const claimed = { kind: 'claimed', barrenClaims: 1 } as const;
    const { run, changes, effects } = decideAll(plan, initial, [claimed], this.#holding.context);
    mergeChanges(write.changes, changes);
    const created = await this.#certainCreate({ ...write, holder, entries: { ready: false, leaseMs } });
    if (created.kind === 'done') this.#holding.keep(plan, run, { epoch: 1, version: 1 }, effects);
    return created;
  }

  async #certainCreate(write: CreateWrite): Promise<Created> {
    const { store, clock } = this.#holding.ports;
    let refusal: 'exists' | 'refused' = 'exists';
    const certain = await makeCertain(store, clock, {
      run: write.run,
      writeId: write.writeId,
      send: async () => {
        const result = await store.create(write);
        if (result.kind === 'exists' || result.kind === 'refused') {
          refusal = result.kind;
          return { kind: 'fenced' };
        }
        return result;
      },
      isOpen: (head) => head === undefined,
    });
    if (certain === 'done') return { kind: 'done', run: write.run };
    return { kind: certain === 'fenced' ? refusal : 'unavailable' };
  }

  /** Claims a place for a run that is being created; undefined when it has to wait its turn. */
  #reserve(run: RunId, level: number, bytes: number): (() => void) | undefined {
    if (this.#holding.waitsAtOrBefore(level) || this.#links.waitsAtOrBefore(level)) return undefined;
    return this.#holding.reserve(run, bytes);
  }

  /** Unique in this process and rising, also when the clock doesn't: microseconds since 1970, about. */
  #order(nowMs: number): number {
    this.#lastOrder = Math.max(nowMs * 1_000, this.#lastOrder + 1);
    return this.#lastOrder;
  }
}

function refused(why: RefusalKind, field: string, message: string): Submitted {
  return { kind: 'refused', why, field, message };
}

function unavailable(): Submitted {
  return refused('unavailable', '', 'the store did not answer; send the same item again');
}

/** SHA-256 over names and values in the order of names: sameness doesn't depend on the order in which fields were sent. */
function hashOf(fields: ReadonlyMap<string, FieldValue>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const name of [...fields.keys()].sort()) {
    const value = fields.get(name);
    if (!value) continue;
    const { reference } = value;
    const kept = reference
      ? `@${Buffer.from(reference.hash ?? []).toString('hex')} ${reference.size} ${reference.location}`
      : '';
    parts.push(Buffer.from(`${name} ${value.bytes.length} ${kept}\n`), value.bytes);
  }
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
