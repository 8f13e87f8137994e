// Makes runs: one conditional write each, certain before anybody hears of it. A run starts at once when there is room and nothing
// waits before it; else it waits its turn.
//
// Owns the order in which this process creates runs.

import { mergeChanges } from '../../flow/change.ts';
import { decideAll } from '../../flow/decide.ts';
import { type NewRun, newRun } from '../../flow/new-run.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Run, RunId } from '../../flow/run.ts';
import type { CreateWrite } from '../../store/port.ts';
import { makeCertain } from './certain-write.ts';
import type { Holding } from './holding.ts';
import type { SpoutLinks } from './spout-links.ts';

/** What is to be created; when, and in which order, is this process's. */
export interface RunToCreate extends Omit<NewRun, 'order' | 'nowMs'> {
  /** The generation before this one. */
  readonly supersedes?: RunId;
}

export type Created =
  | { readonly kind: 'done'; readonly run: RunId }
  /** `exists`: nothing was changed; `refused`: nor was the generation before superseded; `unavailable`: nobody knows. */
  | { readonly kind: 'exists' | 'refused' | 'unavailable'; readonly run: RunId };

export class RunCreation {
  readonly #holding: Holding;
  readonly #links: SpoutLinks;
  #lastOrder = 0;

  constructor(holding: Holding, links: SpoutLinks) {
    this.#holding = holding;
    this.#links = links;
  }

  async create(plan: Plan, { supersedes, ...from }: RunToCreate): Promise<Created> {
    const { clock, ids } = this.#holding.ports;
    const nowMs = clock.nowMs();
    const { run, changes } = newRun(plan, { ...from, order: this.#order(nowMs), nowMs });
    const write = { run: run.id, writeId: ids.next(), changes, ...(supersedes && { supersedes }) };
    const { level } = from;
    const giveBack = this.#reserve(run.id, level, run.control.inputBytes);
    if (!giveBack) {
      this.#links.noteWaiting(level);
      return this.#write({ ...write, entries: { ready: true, timerMs: run.control.deadlineMs } });
    }
    try {
      return await this.#createClaimed(plan, run, write);
    } finally {
      giveBack();
    }
  }

  /** A run that has ended before it began, by the write of `change`: it takes nobody's place, and no entry finds it. */
  async createEnded(
    plan: Plan,
    from: RunToCreate,
    change: (control: Run['control']) => Run['control'],
  ): Promise<Created> {
    const { clock, ids } = this.#holding.ports;
    const nowMs = clock.nowMs();
    const { run, changes } = newRun(plan, { ...from, order: this.#order(nowMs), nowMs });
    changes.control = change(run.control);
    return this.#write({ run: run.id, writeId: ids.next(), changes, entries: { ready: false } });
  }

  /** One write creates the run, claims it and begins its first steps. */
  async #createClaimed(plan: Plan, initial: Run, write: Omit<CreateWrite, 'entries'>): Promise<Created> {
    const { holder, leaseMs } = this.#holding.claimant();
    const claimed = { kind: 'claimed', barrenClaims: 1 } as const;
    const { run, changes, effects } = decideAll(plan, initial, [claimed], this.#holding.context);
    mergeChanges(write.changes, changes);
    const created = await this.#write({ ...write, holder, entries: { ready: false, leaseMs } });
    if (created.kind === 'done') this.#holding.keep(plan, run, { epoch: 1, version: 1 }, effects);
    return created;
  }

  async #write(write: CreateWrite): Promise<Created> {
    const { store, clock } = this.#holding.ports;
    const { run, writeId } = write;
    let refusal: 'exists' | 'refused' = 'exists';
    const certain = await makeCertain(store, clock, {
      run,
      writeId,
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
    if (certain === 'done') return { kind: 'done', run };
    return { kind: certain === 'fenced' ? refusal : 'unavailable', run };
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
