import { latin1 } from '../../flow/run-id.ts';
import type { Assignments, AssignResult } from '../assignments.ts';

/** Assignments that are gone with the process: for tests and the simulation, whose processes share one. */
export class MemoryAssignments implements Assignments {
  readonly #flows = new Map<string, string>();

  async assigned(business: string, itemKey: Uint8Array): Promise<string | undefined> {
    return this.#flows.get(nameOf(business, itemKey));
  }

  async assign(business: string, itemKey: Uint8Array, flow: string): Promise<AssignResult> {
    const name = nameOf(business, itemKey);
    const standing = this.#flows.get(name) ?? flow;
    this.#flows.set(name, standing);
    return { kind: 'done', flow: standing };
  }
}

/** Names of business lines contain no slash. */
function nameOf(business: string, itemKey: Uint8Array): string {
  return `${business}/${latin1(itemKey)}`;
}
