// What a write has to know of a run besides its fence: which index rows stand, and what new ones say. It is true of one fence
// for ever, except that a promotion changes the entries; so whatever is built on it is conditional on both.
//
// Owns the memory of the runs that this process read or wrote last.

import type { Control, RunId } from '../../flow/run.ts';
import type { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeControl } from '../codec.ts';
import type { EncodedControl } from '../encoded-write.ts';
import type { Fence } from '../port.ts';
import { valueOf } from './cells.ts';
import type { Row } from './client/port.ts';
import { column, decodeEntries, decodeFence, decodeWrite, type Entries } from './columns.ts';

export interface RunFacts {
  readonly fence: Fence;
  readonly entries: Entries;
  readonly held: boolean;
  readonly barrenClaims: number;
  readonly level: number;
  readonly order: number;
  readonly inputBytes: number;
  readonly deadlineMs: number;
  readonly state: State;
}

/** Undefined when there is no such run. Throws for a row that isn't whole: a bug. `decoded`: its control data, where it is known. */
export function readFacts(row: Row | undefined, decoded?: Control): RunFacts | undefined {
  const fence = row && valueOf(row, column.fence);
  if (!fence) return undefined;
  const entries = valueOf(row, column.entries);
  const control = valueOf(row, column.control);
  const write = valueOf(row, column.write);
  if (!entries || !control || !write) throw new Error(`half a run is stored: ${row.row.toString('latin1')}`);
  const { level, order, inputBytes, deadlineMs, status } = decoded ?? decodeControl(control);
  return {
    fence: decodeFence(fence),
    entries: decodeEntries(entries),
    held: (valueOf(row, column.holder)?.length ?? 0) > 0,
    barrenClaims: decodeWrite(write).barrenClaims,
    level,
    order,
    inputBytes,
    deadlineMs,
    state: status.state,
  };
}

/** The facts with new control data, if there is any. */
export function withControl(facts: RunFacts, control: EncodedControl | undefined): RunFacts {
  if (!control) return facts;
  const { level, order, inputBytes, deadlineMs, state } = control;
  return { ...facts, level, order, inputBytes, deadlineMs, state };
}

/** Runs that are remembered: more than a process holds at a time; some 30 MB with long keys. */
const maxRemembered = 65_536;

export class KnownRuns {
  readonly #facts = new Map<RunId, RunFacts>();

  get(run: RunId): RunFacts | undefined {
    return this.#facts.get(run);
  }

  note(run: RunId, facts: RunFacts): void {
    const known = this.#facts.get(run);
    if (known && known.fence.version > facts.fence.version) return;
    // Behind all others: the one at the front is that which was of no use for the longest time.
    this.#facts.delete(run);
    this.#facts.set(run, facts);
    if (this.#facts.size <= maxRemembered) return;
    for (const oldest of this.#facts.keys()) {
      this.#facts.delete(oldest);
      return;
    }
  }

  /** What is known may not hold. */
  forget(run: RunId): void {
    this.#facts.delete(run);
  }
}
