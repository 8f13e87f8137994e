// One run in the hands of this process: event in → decide → commit → only then effects.
//
// Owns the run's state in memory from the accepted claim to the accepted commit that lets it go, and the calls and errands that are
// out.
//
// Invariants:
//   H1  At most one write of the run is under way; events that arrive meanwhile wait in the mailbox.
//   H2  An effect is performed only after the write that carries its decision was answered `done`.
//   H3  Once closed nothing is written, no call or errand is out and no timer is set.
//   H4  The fence in memory is the store's, or the store's has moved on without us: then the next write is refused, and we close.
//   H5  Decided is only with the plan of the run's version: a run that was moved to another one is let go by the same write.

import { type Changes, isEmpty } from '../../flow/change.ts';
import type { CallEffect, Effect, StartEffect, TellEffect } from '../../flow/effect.ts';
import type { Context, RunEvent } from '../../flow/event.ts';
import { inInboxOrder } from '../../flow/events/inbox.ts';
import type { Plan } from '../../flow/plan.ts';
import type { IndexEntries, Run, RunId } from '../../flow/run.ts';
import { printableRun } from '../../flow/run-id.ts';
import { entriesOf, type Standing, standing } from '../../flow/standing.ts';
import type { Timer } from '../../platform/clock/clock.ts';
import { Ending, type InboxEvent, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { CommitWrite, Fence } from '../../store/port.ts';
import type { CallOutcome, PendingCall } from '../modules/port.ts';
import type { DispatchSettings } from '../settings.ts';
import { makeFencedCertain } from './certain-write.ts';
import { decideUntilMoved, isMoved } from './decide-until-moved.ts';
import type { Errand, Errands } from './errand.ts';
import type { DispatchPorts } from './ports.ts';

/** Longest delay that Node's timers take without overflowing, in ms. */
const maxDelayMs = 2 ** 31 - 1;

/** Reads of an inbox for one nudge: one as a rule, another when a commit consumed something meanwhile. */
const maxInboxReads = 3;

/** Why this process has the run no more. */
export type Parting = 'let go' | 'fenced' | 'abandoned';

export interface RunKeeper {
  readonly ports: DispatchPorts;
  readonly settings: DispatchSettings;
  readonly errands: Errands;
  /** As it is now: all of one decision sees the same time. */
  readonly context: Context;
  /** A held run has so many bytes more. */
  grown(bytes: number): void;
  parted(run: HeldRun, why: Parting): void;
}

export class HeldRun {
  readonly id: RunId;
  readonly #keeper: RunKeeper;
  readonly #plan: Plan;
  #run: Run;
  #fence: Fence;
  readonly #mailbox: RunEvent[] = [];
  readonly #calls = new Map<string, { readonly round: number; readonly pending: PendingCall }>();
  /** Runs being started and others being told, by step. They can be repeated by anybody, so nobody waits for them to hand back. */
  readonly #errands = new Map<string, Errand>();
  /** Where the last call of a step was lost, by step: the next one goes elsewhere. */
  readonly #lostAt = new Map<string, string>();
  /** Inbox events in the mailbox or in the write under way. */
  readonly #seen = new Set<string>();
  /** Version of the run at our claim, or after our last commit that consumed an event. */
  #consumedVersion: number;
  #bytes = 0;
  #writing = false;
  #closed = false;
  #wake: { readonly atMs: number; readonly timer: Timer } | undefined;
  #handBack: 'no' | 'when idle' | 'now' = 'no';

  constructor(keeper: RunKeeper, plan: Plan, run: Run, fence: Fence) {
    this.#keeper = keeper;
    this.id = run.id;
    this.#plan = plan;
    this.#run = run;
    this.#fence = fence;
    this.#consumedVersion = fence.version;
    for (const { bytes } of run.fields.values()) this.#bytes += bytes.length;
  }

  /** Of all its fields. */
  get bytes(): number {
    return this.#bytes;
  }

  get fence(): Fence {
    return this.#fence;
  }

  /** Performs what the claim (or the creation) decided, and goes on from there. Called once, after that write was accepted. */
  begin(effects: readonly Effect[]): void {
    this.#guarded('beginning', () => {
      this.#perform(effects);
      if (!this.#writing) this.#takeTurn();
    });
  }

  handle(event: RunEvent): void {
    if (this.#closed) return;
    this.#mailbox.push(event);
    if (!this.#writing) this.#turn();
  }

  /** Something may have arrived in the inbox. */
  async nudge(): Promise<void> {
    for (const event of inInboxOrder(await this.#readInbox())) {
      if (this.#closed || this.#seen.has(event.id)) continue;
      this.#seen.add(event.id);
      this.handle({ kind: 'inbox', event });
    }
  }

  /**
   * A read may be old (S6), and one of before an event was consumed shows it still: it is made again, and at last left to the spout,
   * which finds in the index what waits.
   */
  async #readInbox(): Promise<readonly InboxEvent[]> {
    for (let reads = 0; reads < maxInboxReads && !this.#closed; reads++) {
      const view = await this.#keeper.ports.store.inbox(this.id);
      if (view && view.fence.version >= this.#consumedVersion) return view.events;
    }
    return [];
  }

  /**
   * Makes no new calls and lets the run go as soon as none is out; `now` even with calls out, which the next holder counts as
   * lost. Calls that still wait for a place are taken back, and cost nothing.
   */
  handBack(when: 'when idle' | 'now'): void {
    if (this.#closed) return;
    this.#handBack = when;
    for (const [step, { round, pending }] of this.#calls) {
      if (!pending.withdraw()) continue;
      this.#calls.delete(step);
      this.#mailbox.push({ kind: 'withdrawn', step, round });
    }
    if (!this.#writing) this.#turn();
  }

  /** The store has seen a claim of the run at this fence: one that isn't ours means that ours is over. */
  overtakenBy({ epoch }: Fence): void {
    // While a write is under way its answer tells.
    if (!this.#writing && epoch > this.#fence.epoch) this.#close('fenced');
  }

  #turn(): void {
    this.#guarded('turn', () => this.#takeTurn());
  }

  /** A bug met on the way costs this process the run, not the process: whoever claims it next counts a claim without a commit. */
  #guarded(doing: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#abandon(error, doing);
    }
  }

  #abandon(error: unknown, doing: string): void {
    this.#keeper.ports.onError(error, `${doing} of ${printableRun(this.id)}`);
    this.#close('abandoned');
  }

  #takeTurn(): void {
    const { context } = this.#keeper;
    const events = this.#mailbox.splice(0);
    const { run, changes, effects } = decideUntilMoved(this.#plan, this.#run, events, context);
    this.#run = run;
    this.#forgetLeft(events, changes.consumed);
    this.#grow(changes.fields);
    const release = this.#release(context.nowMs, effects);
    // Nothing changed, so nothing follows.
    if (isEmpty(changes) && !release) return this.#setWake();
    this.#writing = true;
    const { ports } = this.#keeper;
    const expected = this.#fence;
    const write: CommitWrite = {
      run: this.id,
      writeId: ports.ids.next(),
      expected,
      changes,
      ...(release && { release }),
    };
    void this.#commit(write, effects).catch((error: unknown) => this.#abandon(error, 'commit'));
  }

  /** What a decision leaves in the inbox may matter to a later one. */
  #forgetLeft(events: readonly RunEvent[], consumed: Changes['consumed']): void {
    for (const event of events) {
      if (event.kind === 'inbox' && !consumed.includes(event.event.id)) this.#seen.delete(event.event.id);
    }
  }

  /** Fields are written once a round: what a step wrote before was removed when it was re-armed. */
  #grow(fields: Changes['fields']): void {
    let bytes = 0;
    for (const value of fields.values()) bytes += value?.bytes.length ?? 0;
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#keeper.grown(bytes);
  }

  async #commit(write: CommitWrite, effects: readonly Effect[]): Promise<void> {
    const { store, clock } = this.#keeper.ports;
    const certain = await makeFencedCertain(store, clock, write, () => store.commit(write));
    this.#writing = false;
    if (certain !== 'done') return this.#close(certain);
    this.#fence = { epoch: this.#fence.epoch, version: this.#fence.version + 1 };
    for (const id of write.changes.consumed) this.#seen.delete(id);
    if (write.changes.consumed.length > 0) this.#consumedVersion = this.#fence.version;
    if (write.release) return this.#close('let go');
    this.#perform(effects);
    this.#turn();
  }

  /** The index entries with which the run is let go now; undefined to keep it. */
  #release(nowMs: number, effects: readonly Effect[]): IndexEntries | undefined {
    const stands = standing(this.#run, this.#keeper.settings.endingDeadlineMs);
    const isOver = stands.kind === 'ended' || stands.kind === 'parked';
    if (!isOver && isMoved(this.#plan, this.#run)) return { ready: true, timerMs: stands.endMs };
    return this.#mustGo(stands, nowMs, effects) ? entriesOf(stands, nowMs) : undefined;
  }

  #mustGo(stands: Standing, nowMs: number, effects: readonly Effect[]): boolean {
    switch (stands.kind) {
      case 'ended':
      case 'parked':
        return true;
      case 'calling':
        return this.#handBack === 'now' || (this.#handBack === 'when idle' && !this.#isCalling(effects));
      case 'sleeping':
        return this.#handBack !== 'no' || stands.wakeMs - nowMs >= this.#keeper.settings.keepMs;
    }
  }

  /** Whether some step is RUNNING other than by an errand, under way or about to be. */
  #isCalling(effects: readonly Effect[]): boolean {
    const errands = new Set(this.#errands.keys());
    for (const effect of effects) if (effect.kind === 'start' || effect.kind === 'tell') errands.add(effect.step);
    for (const [path, { status }] of this.#run.steps) {
      if (status === StepStatus.RUNNING && !errands.has(path)) return true;
    }
    return false;
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'abort') this.#abort(effect.step);
      // A later decision of the same turn may have ended the step: its call must not go out.
      else if (effect.kind === 'call') {
        if (this.#isWanted(effect)) this.#call(effect);
      } else this.#send(effect);
    }
  }

  #isWanted(effect: CallEffect): boolean {
    const step = this.#run.steps.get(effect.step);
    return step?.status === StepStatus.RUNNING && step.round === effect.round && !this.#calls.has(effect.step);
  }

  #call(effect: CallEffect): void {
    // Who is leaving makes no new calls. The caller takes a turn next, which decides on this.
    if (this.#handBack !== 'no') {
      this.#mailbox.push({ kind: 'withdrawn', step: effect.step, round: effect.round });
      return;
    }
    const { business, flow, itemKey, rowKey = itemKey, level } = this.#run.control;
    const { step, round, attempt } = effect;
    const avoid = this.#lostAt.get(step);
    const named = { rowkey: rowKey, business, flow, level, epoch: this.#fence.epoch };
    const call = { ...effect, ...named, ...(avoid !== undefined && { avoid }) };
    const done = ({ answer, tries }: CallOutcome) => {
      this.#calls.delete(step);
      const endpoint = tries.at(-1)?.endpoint;
      if (answer.ending === Ending.LOST && endpoint !== undefined) this.#lostAt.set(step, endpoint);
      else this.#lostAt.delete(step);
      this.handle({ kind: 'answered', step, round, attempt, answer, tries });
    };
    this.#calls.set(step, { round, pending: this.#keeper.ports.modules.call(call, done) });
  }

  #send(effect: StartEffect | TellEffect): void {
    const { step } = effect;
    const state = this.#run.steps.get(step);
    if (state?.status !== StepStatus.RUNNING || (effect.kind === 'start' && state.round !== effect.round)) return;
    this.#errands.get(step)?.giveUp();
    const over = (event: RunEvent) => {
      this.#errands.delete(step);
      this.handle(event);
    };
    const { errands } = this.#keeper;
    const errand =
      effect.kind === 'tell'
        ? errands.tell(this.id, effect, () => over({ kind: 'told', step }))
        : errands.start(effect, (seen) => over({ kind: 'child seen', step, round: effect.round, seen }));
    this.#errands.set(step, errand);
  }

  #abort(step: string): void {
    this.#calls.get(step)?.pending.abort();
    this.#calls.delete(step);
    this.#errands.get(step)?.giveUp();
    this.#errands.delete(step);
  }

  #setWake(): void {
    // What falls due while we leave is the next holder's: begun here it would only be taken back, again and again.
    if (this.#handBack !== 'no') return this.#cancelWake();
    const { clock } = this.#keeper.ports;
    const stands = standing(this.#run, this.#keeper.settings.endingDeadlineMs);
    const atMs = stands.kind === 'calling' || stands.kind === 'sleeping' ? stands.wakeMs : Infinity;
    const nowMs = clock.nowMs();
    // The alarm may have been set by a clock that was wrong then: what is due by now isn't left to it.
    if (this.#wake?.atMs === atMs && atMs > nowMs) return;
    this.#cancelWake();
    if (atMs === Infinity) return;
    const delayMs = Math.min(maxDelayMs, Math.max(0, atMs - nowMs));
    const timer = clock.after(delayMs, () => {
      this.#wake = undefined;
      this.handle({ kind: 'tick' });
    });
    this.#wake = { atMs, timer };
  }

  #cancelWake(): void {
    this.#wake?.timer.cancel();
    this.#wake = undefined;
  }

  #close(why: Parting): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelWake();
    for (const { pending } of this.#calls.values()) pending.abort();
    this.#calls.clear();
    for (const errand of this.#errands.values()) errand.giveUp();
    this.#errands.clear();
    this.#mailbox.length = 0;
    this.#keeper.parted(this, why);
  }
}
