// Compares, when all is over, what stands in the store with what the client was promised and what the modules wrote down. It takes
// no number from the engine that it can count itself.

import { runId } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Store } from '../../../store/port.ts';
import { type Calls, type CallsOfKey, textOf } from './calls.ts';
import {
  business,
  exitStep,
  expectedFields,
  type Fate,
  flow,
  type Item,
  item,
  maxLosses,
  poisonedStep,
  seedOf,
  tries,
} from './chain.ts';
import { allRuns, recordedCalls, type StoredRun } from './stored-runs.ts';

export interface AuditInput {
  readonly items: number;
  /** Numbers of the items whose acknowledgement was heard. */
  readonly acknowledged: ReadonlySet<number>;
  readonly calls: Calls;
  readonly store: Store;
  /** Of the module that the poison item is lost at. */
  readonly poisonedEndpoints: readonly string[];
}

export interface Findings {
  /** Runs by state and reason: `FAILED REJECTED`. */
  readonly states: Map<string, number>;
  lost: number;
  doubleTerminal: number;
  wrongResults: number;
  parked: number;
  calls: number;
  /** Recorded by the engine and received by no module: they waited for a place when their holder died. */
  unsentCalls: number;
  /** Beyond the first of each call key. */
  repeatedCalls: number;
  /** Received after the run had ended: cancelled too late to stop them. */
  lateCalls: number;
  /** Steps by the losses that each had, from none; the poison item's apart. More than `maxLosses` would have parked it. */
  readonly losses: number[];
  /** Of one call key. */
  mostCalls: number;
  readonly violations: string[];
}

/** What each fate may come to. */
const ends: Readonly<Record<Fate, ReadonlyArray<readonly [State, Reason]>>> = {
  plain: [[State.SUCCEEDED, Reason.UNSPECIFIED]],
  rejected: [[State.FAILED, Reason.REJECTED]],
  fatal: [[State.FAILED, Reason.FATAL]],
  cancelled: [
    [State.CANCELLED, Reason.UNSPECIFIED],
    [State.SUCCEEDED, Reason.UNSPECIFIED],
  ],
  poison: [[State.PARKED, Reason.POISON]],
};

export async function audit(input: AuditInput): Promise<Findings> {
  const findings: Findings = {
    ...{ states: new Map(), violations: [], lost: 0, doubleTerminal: 0, wrongResults: 0, parked: 0 },
    ...{ calls: 0, unsentCalls: 0, repeatedCalls: 0, lateCalls: 0, mostCalls: 0 },
    losses: Array.from({ length: maxLosses + 1 }, () => 0),
  };
  const runs = new Map<string, StoredRun>();
  for await (const stored of allRuns(input.store)) runs.set(stored.run.id, stored);
  const expected = new Set<string>();
  for (const number of input.acknowledged) {
    const each = item(number, input.items);
    const id = runId({ business, flow, itemKey: Buffer.from(each.key), generation: 1 });
    expected.add(id);
    const stored = runs.get(id);
    if (stored) await new RunAudit(input, findings, each, stored).check();
    else findings.violations.push(`${each.key} was acknowledged and isn't there`);
    if (!stored || !isAtRest(stored.run.control.status.state)) findings.lost++;
  }
  // Until the last acknowledgement was heard, a run may be there whose sender doesn't know it yet.
  const isWhole = input.acknowledged.size === input.items;
  for (const id of isWhole ? runs.keys() : []) {
    if (!expected.has(id)) findings.violations.push(`${id} is there and was never acknowledged`);
  }
  return findings;
}

function isAtRest(state: State): boolean {
  return isTerminal(state) || state === State.PARKED;
}

/** The part of an audit that is about one item. */
class RunAudit {
  readonly #input: AuditInput;
  readonly #findings: Findings;
  readonly #item: Item;
  readonly #stored: StoredRun;
  readonly #calls: ReadonlyMap<string, CallsOfKey>;

  constructor(input: AuditInput, findings: Findings, each: Item, stored: StoredRun) {
    this.#input = input;
    this.#findings = findings;
    this.#item = each;
    this.#stored = stored;
    this.#calls = input.calls.get(each.key) ?? new Map<string, CallsOfKey>();
  }

  async check(): Promise<void> {
    this.#checkOutcome();
    this.#checkFields();
    this.#checkCalls();
    this.#checkExitCall();
    await this.#checkRecords();
    const { run } = this.#stored;
    const inbox = (await this.#input.store.inbox(run.id))?.events ?? [];
    if (inbox.length > 0 && isTerminal(run.control.status.state))
      this.#violated(`${inbox.length} events wait for ever`);
    if (run.control.status.state === State.PARKED) await this.#checkEvidence();
  }

  #checkOutcome(): void {
    const { status } = this.#stored.run.control;
    const { states } = this.#findings;
    const reason = status.reason === Reason.UNSPECIFIED ? '' : ` ${Reason[status.reason]}`;
    const name = `${State[status.state]}${reason}`;
    states.set(name, (states.get(name) ?? 0) + 1);
    if (status.state === State.PARKED) this.#findings.parked++;
    const { fate } = this.#item;
    if (!ends[fate].some(([state, why]) => state === status.state && why === status.reason)) {
      this.#violated(`its fate is ${fate}, it is ${name}: ${status.detail}; evidence: ${status.evidence.join(', ')}`);
    }
    const outcomes = isTerminal(status.state) ? 1 : 0;
    if (status.outcomeNumber === outcomes) return;
    this.#findings.doubleTerminal++;
    this.#violated(`has outcome number ${status.outcomeNumber}, expected is ${outcomes}`);
  }

  /** Every output is the right one and one that a module says it answered; of a run that succeeded they are complete. */
  #checkFields(): void {
    const { run } = this.#stored;
    const expected = expectedFields(seedOf(this.#item));
    const byStep = new Map<string, Record<string, string>>();
    let isRight = true;
    for (const [path, { bytes }] of run.fields) {
      const [writer = '', name = ''] = path.split('/');
      if (writer === 'input') continue;
      const value = Buffer.from(bytes).toString();
      byStep.set(writer, { ...byStep.get(writer), [name]: value });
      if (expected.get(path) === value) continue;
      isRight = false;
      this.#violated(`${path} is ${value}, expected is ${expected.get(path) ?? 'nothing'}`);
    }
    for (const [step, outputs] of byStep) {
      if (this.#callsOf(step)?.succeeded.has(textOf(outputs)) === true) continue;
      isRight = false;
      this.#violated(`step ${step} has outputs that no module answered to its call key: ${textOf(outputs)}`);
    }
    const missing = [...expected.keys()].filter((path) => !run.fields.has(path));
    if (run.control.status.state === State.SUCCEEDED && missing.length > 0) {
      isRight = false;
      this.#violated(`succeeded without ${missing.join(', ')}`);
    }
    if (!isRight) this.#findings.wrongResults++;
  }

  #checkCalls(): void {
    const endedMs = this.#stored.run.control.status.sinceMs;
    for (const [callKey, { step, received, declined, lastMs }] of this.#calls) {
      this.#findings.calls += received;
      this.#findings.repeatedCalls += Math.max(0, received - 1);
      this.#findings.mostCalls = Math.max(this.#findings.mostCalls, received);
      if (lastMs > endedMs) this.#findings.lateCalls++;
      if (callKey !== this.#callKey(step))
        this.#violated(`was called as ${callKey}, expected is ${this.#callKey(step)}`);
      if (received > tries + maxLosses + declined) {
        const allowed = `${tries} + ${maxLosses} + ${declined} declined`;
        this.#violated(`step ${step} was called ${received} times, allowed are ${allowed}`);
      }
    }
  }

  #checkExitCall(): void {
    if (!isTerminal(this.#stored.run.control.status.state)) return;
    if (this.#callsOf(exitStep)?.succeeded.size !== 1) this.#violated('ended without its exit call');
  }

  /** The engine's own record of its calls keeps the bounds too. */
  async #checkRecords(): Promise<void> {
    const { run } = this.#stored;
    for (const { losses } of this.#item.fate === 'poison' ? [] : run.steps.values()) {
      this.#findings.losses[losses] = (this.#findings.losses[losses] ?? 0) + 1;
    }
    for (const { step, round, calls, declined, succeeded } of recordedCalls(
      await this.#input.store.executions(run.id),
    )) {
      const place = `step ${step}, round ${round}`;
      this.#findings.unsentCalls += Math.max(0, calls - (this.#callsOf(step)?.received ?? 0));
      if (round !== 1) this.#violated(`${place} is recorded, though nobody asked for another round`);
      if (succeeded > 1) this.#violated(`${place} succeeded ${succeeded} times`);
      const allowed = tries + maxLosses + (run.control.status.state === State.PARKED ? 1 : 0);
      if (calls - declined > allowed)
        this.#violated(`${place} has ${calls} calls recorded, ${declined} of them declined`);
    }
  }

  /** Whoever looks at a parked run must find what it was, and where it did its harm. */
  async #checkEvidence(): Promise<void> {
    const { run } = this.#stored;
    const { evidence } = run.control.status;
    const executions = await this.#input.store.executions(run.id);
    const last = executions.findLast(({ step }) => step === poisonedStep);
    const { poisonedEndpoints } = this.#input;
    // Lost together with its holder, the last call has no endpoint; the records name those before it.
    const places = last?.endpoint === '' ? executions.map(({ endpoint }) => `endpoint ${endpoint}`) : evidence;
    const names = [evidence.includes(`key ${this.#item.key}`), evidence.includes(`step ${poisonedStep}: 6 losses`)];
    const isPlaced = poisonedEndpoints.some((endpoint) => places.includes(`endpoint ${endpoint}`));
    if (!names.every(Boolean) || !isPlaced) this.#violated(`is parked without evidence: ${evidence.join(', ')}`);
  }

  #callsOf(step: string): CallsOfKey | undefined {
    return this.#calls.get(this.#callKey(step));
  }

  #callKey(step: string): string {
    return `1/${business}/${flow}/${this.#item.key}/${step}/1`;
  }

  #violated(message: string): void {
    this.#findings.violations.push(`${this.#item.key}: ${message}`);
  }
}
