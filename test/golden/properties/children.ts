// The runs that a random run starts, as far as it hears of them: each is open or has ended, nothing of them is decided.
//
// Invariants:
//   W1  The outcome number of a child rises with each of its ends.
//   W2  A request to go on is heard once, however often it is sent.

import type { StartEffect, TellEffect } from '../../../flow/effect.ts';
import type { ChildEnd, ChildSeen } from '../../../flow/event.ts';
import type { RunId } from '../../../flow/run.ts';
import { runId } from '../../../flow/run-id.ts';
import type { InboxKind } from '../../../flow/simulation/virtual-run.ts';
import { Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';

interface Child {
  /** Undefined for one that was cancelled before it was there. */
  start: StartEffect | undefined;
  outcomeNumber: number;
  end: ChildEnd | undefined;
  readonly heard: Set<string>;
}

export class Children {
  readonly #children = new Map<RunId, Child>();

  /** Children that go on and that somebody waits for. */
  open(): RunId[] {
    return this.#those(({ end, start }) => end === undefined && start?.parent.waits === true);
  }

  /** Children that have failed and are not going on. */
  failed(): RunId[] {
    return this.#those(({ end, start }) => end?.outcome === State.FAILED && start?.parent.waits === true);
  }

  start(effect: StartEffect): ChildSeen {
    const id = idOf(effect.name);
    const found = this.#children.get(id);
    if (!found) {
      this.#children.set(id, { start: effect, outcomeNumber: 0, end: undefined, heard: new Set() });
      return { kind: 'open', child: id };
    }
    found.start ??= effect;
    const { end, outcomeNumber, heard } = found;
    if (!end) return { kind: 'open', child: id };
    const { retryId } = effect;
    if (retryId === undefined || heard.has(retryId) || end.outcome === State.SUCCEEDED)
      return { kind: 'ended', child: id, end };
    heard.add(retryId);
    found.end = undefined;
    return { kind: 'retried', child: id, outcomeNumber };
  }

  /** A child ends; what it tells its parent. */
  end(id: RunId, outcome: State, mark: string): InboxKind {
    const child = this.#child(id);
    const { start } = child;
    child.outcomeNumber += 1;
    const given = start?.fields.map(([, { bytes }]) => bytes)[0] ?? new Uint8Array();
    const names = start?.parent.receive ?? [];
    const fields = new Map(names.map((name) => [name, { bytes: name === 'out' ? given : encoded(mark) }]));
    const reason = outcome === State.FAILED ? Reason.FATAL : Reason.UNSPECIFIED;
    child.end = { outcome, outcomeNumber: child.outcomeNumber, reason, detail: '', fields };
    return this.told(id);
  }

  /** What a child that has ended tells its parent: perhaps not for the first time. */
  told(id: RunId): InboxKind {
    const { start, end } = this.#child(id);
    if (!start || !end) throw new Error(`${id} has told nothing`);
    const { outcome, outcomeNumber, reason, detail } = end;
    const fields = Object.fromEntries([...end.fields].map(([name, { bytes }]) => [name, { value: bytes }]));
    const { step, round } = start.parent;
    return { case: 'childEnded', value: { step, round, child: id, outcome, outcomeNumber, reason, detail, fields } };
  }

  /** A person retries a child that has failed; what it tells its parent. */
  goOn(id: RunId): InboxKind {
    const child = this.#child(id);
    if (!child.start) throw new Error(`${id} has no parent`);
    child.end = undefined;
    const { step, round } = child.start.parent;
    return { case: 'childReopened', value: { step, round, child: id, outcomeNumber: child.outcomeNumber } };
  }

  /** A child hears that it is cancelled: one that isn't there yet is created so. True when it tells its parent of it. */
  cancel({ to }: TellEffect): RunId | undefined {
    const id = typeof to === 'string' ? to : idOf(to);
    const found = this.#children.get(id);
    if (found?.end) return undefined;
    if (found?.start) return id;
    const end = {
      outcome: State.CANCELLED,
      outcomeNumber: 1,
      reason: Reason.UNSPECIFIED,
      detail: '',
      fields: new Map(),
    };
    this.#children.set(id, { start: undefined, outcomeNumber: 1, end, heard: new Set() });
    return undefined;
  }

  #those(holds: (child: Child) => boolean): RunId[] {
    return [...this.#children].filter(([, child]) => holds(child)).map(([id]) => id);
  }

  #child(id: RunId): Child {
    const child = this.#children.get(id);
    if (!child) throw new Error(`there is no child ${id}`);
    return child;
  }
}

function idOf({ flow, itemKey }: StartEffect['name']): RunId {
  return runId({ business: 'golden', flow, itemKey, generation: 1 });
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
