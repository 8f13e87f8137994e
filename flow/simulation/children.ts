// The runs that a run starts, as far as it hears of them. Nothing of them is simulated: the script says how each ends.
//
// Ownership: one Children belongs to one simulation.
//
// Invariants:
//   C1  The outcome number of a child rises with each of its ends.

import { Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { ChildName, StartEffect } from '../effect.ts';
import type { ChildSeen } from '../event.ts';
import type { RunId } from '../run.ts';
import { runId } from '../run-id.ts';
import type { ChildEnded } from './reply.ts';
import type { InboxKind } from './virtual-run.ts';

type End = Pick<ChildEnded, 'outcome' | 'message' | 'fields'>;

interface Child {
  outcomeNumber: number;
  /** Undefined while it goes on. */
  end: End | undefined;
  /** Nobody has been told yet when it ends. */
  isBegun: boolean;
}

export class Children {
  readonly #business: string;
  readonly #children = new Map<RunId, Child>();

  /** Children belong to the business line of their parent: a script says nothing of other flows. */
  constructor(business: string) {
    this.#business = business;
  }

  idOf({ flow, itemKey }: ChildName): RunId {
    return runId({ business: this.#business, flow, itemKey, generation: 1 });
  }

  /** Starts a child unless it is there, and says how it stands. */
  start({ name, retryId }: StartEffect): ChildSeen {
    const child = this.idOf(name);
    const found = this.#children.get(child);
    if (!found) {
      this.#children.set(child, { outcomeNumber: 0, end: undefined, isBegun: true });
      return { kind: 'open', child };
    }
    const { end, outcomeNumber } = found;
    if (!end) return { kind: 'open', child };
    if (retryId !== undefined && end.outcome !== State.SUCCEEDED) {
      found.end = undefined;
      found.isBegun = true;
      return { kind: 'retried', child, outcomeNumber };
    }
    const { outcome, message, fields } = end;
    return {
      kind: 'ended',
      child,
      end: { outcome, outcomeNumber, reason: reasonOf(outcome), detail: message, fields },
    };
  }

  /** Whether the child has just begun to run, for the first time or once more: true once each. */
  begins(name: ChildName): boolean {
    const child = this.#children.get(this.idOf(name));
    if (!child?.isBegun) return false;
    child.isBegun = false;
    return true;
  }

  /** Somebody cancels a child; its id. One that isn't there yet will be found cancelled. */
  cancel(to: RunId | ChildName): RunId {
    const id = typeof to === 'string' ? to : this.idOf(to);
    const child = this.#children.get(id) ?? { outcomeNumber: 0, end: undefined, isBegun: false };
    if (!child.end) this.#set(id, child, { outcome: State.CANCELLED, message: '', fields: new Map() });
    return id;
  }

  /** The child ends; what its parent is told. */
  end({ name, step, round }: StartEffect, end: ChildEnded): InboxKind {
    const id = this.idOf(name);
    const child = this.#children.get(id) ?? { outcomeNumber: 0, end: undefined, isBegun: false };
    this.#set(id, child, end);
    const { outcome, message: detail } = end;
    const { outcomeNumber } = child;
    const fields = Object.fromEntries([...end.fields].map(([field, { bytes }]) => [field, { value: bytes }]));
    return {
      case: 'childEnded',
      value: { step, round, child: id, outcome, outcomeNumber, reason: reasonOf(outcome), detail, fields },
    };
  }

  #set(id: RunId, child: Child, end: End): void {
    child.outcomeNumber += 1;
    child.end = end;
    child.isBegun = false;
    this.#children.set(id, child);
  }
}

/** A script doesn't say why a child failed. */
function reasonOf(outcome: State): Reason {
  return outcome === State.FAILED ? Reason.FATAL : Reason.UNSPECIFIED;
}
