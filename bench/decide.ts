// DECIDE: what it costs to decide about one branch of a list, for 1,000 and for 10,000 branches, and how large the commits become.
// The pure core alone, with the encoding of what it changed: no store, no module.

import { create } from '@bufbuild/protobuf';
import { apply } from '../flow/apply.ts';
import { compileFlow } from '../flow/compile.ts';
import { decide } from '../flow/decide.ts';
import { parseFlow } from '../flow/definition/definition.ts';
import type { CallEffect, Effect, StartEffect } from '../flow/effect.ts';
import type { RunEvent } from '../flow/event.ts';
import { newRun } from '../flow/new-run.ts';
import type { Plan } from '../flow/plan.ts';
import type { Run } from '../flow/run.ts';
import { runId } from '../flow/run-id.ts';
import { Ending, InboxEventSchema, State } from '../proto/gen/weir/run/v1/run_pb.js';
import { encodeChanges } from '../store/encoded-write.ts';

const sizes = [1_000, 10_000] as const;
/** Bytes of an element and of a result: all elements of the longest list are one field of less than 1 MB. */
const payloadBytes = 60;
const nowMs = 1_767_225_600_000;
const result = new TextEncoder().encode('r'.repeat(payloadBytes));

/** What a branch does. */
const branches = {
  calls: 'call: worker, receive: [out]',
  children: 'sub_flow: child, receive: [out]',
  failing: 'sub_flow: child, receive: [out], max_failures: all',
} as const;

type Branch = keyof typeof branches;

/** Microseconds for a branch, and how much more one of many costs; bytes of the commits between the first and the last. */
export function decideCost(): Record<string, number> {
  // Warms the compiler.
  for (const branch of Object.keys(branches) as Branch[]) measured(branch, sizes[0]);
  const figures: Record<string, number> = {};
  for (const branch of Object.keys(branches) as Branch[]) {
    const micros = sizes.map((count) => {
      const { microsPerBranch, largestCommitBytes, lastCommitBytes } = measured(branch, count);
      figures[`${branch}${count}Micros`] = microsPerBranch;
      figures[`${branch}${count}CommitBytes`] = largestCommitBytes;
      figures[`${branch}${count}LastBytes`] = lastCommitBytes;
      return microsPerBranch;
    });
    figures[`${branch}Ratio`] = (micros[1] ?? Number.NaN) / (micros[0] ?? Number.NaN);
  }
  return figures;
}

/** As many branches for either size, so that what else goes on in the machine meets both alike. */
function measured(branch: Branch, count: number) {
  const plan = planOf(branch);
  const repetitions = Math.max(...sizes) / count;
  let micros = 0;
  let largestCommitBytes = 0;
  let lastCommitBytes = 0;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const ran = new Listed(plan, branch, count).run();
    micros += ran.micros;
    largestCommitBytes = Math.max(largestCommitBytes, ran.largestCommitBytes);
    lastCommitBytes = Math.max(lastCommitBytes, ran.lastCommitBytes);
  }
  return { microsPerBranch: micros / repetitions / count, largestCommitBytes, lastCommitBytes };
}

function planOf(branch: Branch): Plan {
  const parsed = parseFlow(`
flow: listed
business: bench
fields: { items: json, results: json, out: string }
steps:
  each: { for_each: items, as: item, into: results, concurrency: 16, ${branches[branch]} }`);
  if (parsed.kind !== 'flow') throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  return compileFlow(parsed.flow, 1);
}

/** One run through a list. What its effects ask for happens in their order. */
class Listed {
  readonly #plan: Plan;
  readonly #branch: Branch;
  #run: Run;
  #effects: Effect[] = [];
  #commits: number[] = [];

  constructor(plan: Plan, branch: Branch, count: number) {
    this.#plan = plan;
    this.#branch = branch;
    const items = JSON.stringify(
      Array.from({ length: count }, (_, index) => String(index).padStart(payloadBytes, '0')),
    );
    const { run } = newRun(plan, {
      itemKey: new TextEncoder().encode('item'),
      generation: 1,
      level: 5,
      order: 1,
      creationHash: new Uint8Array(),
      fields: new Map([['items', { bytes: new TextEncoder().encode(items) }]]),
      nowMs,
    });
    this.#run = run;
  }

  run() {
    this.#happen({ kind: 'claimed', barrenClaims: 1 });
    const startedUs = cpuMicros();
    for (let at = 0; at < this.#effects.length; at++) {
      const effect = this.#effects[at];
      if (effect?.kind === 'call') this.#happen(answered(effect));
      if (effect?.kind === 'start') for (const event of this.#ofChild(effect)) this.#happen(event);
    }
    const micros = cpuMicros() - startedUs;
    const { state } = this.#run.control.status;
    if (state !== State.SUCCEEDED) throw new Error(`the run is ${State[state]}`);
    const between = this.#commits.slice(1, -1);
    return {
      micros,
      largestCommitBytes: between.reduce((most, bytes) => Math.max(most, bytes), 0),
      lastCommitBytes: this.#commits.at(-1) ?? 0,
    };
  }

  #happen(event: RunEvent): void {
    const context = { nowMs, random: () => 0.5, endingDeadlineMs: 60_000 };
    const { changes, effects } = decide(this.#plan, this.#run, event, context);
    this.#commits.push(encodeChanges(changes, 1).bytes);
    this.#run = apply(this.#run, changes);
    this.#effects.push(...effects);
  }

  #ofChild({ step, round, name }: StartEffect): RunEvent[] {
    const child = runId({ business: 'bench', flow: name.flow, itemKey: name.itemKey, generation: 1 });
    const outcome = this.#branch === 'failing' ? State.FAILED : State.SUCCEEDED;
    const value = { step, round, child, outcome, outcomeNumber: 1, fields: { out: { value: result } } };
    const event = create(InboxEventSchema, { id: step, kind: { case: 'childEnded', value } });
    return [
      { kind: 'child seen', step, round, seen: { kind: 'open', child } },
      { kind: 'inbox', event },
    ];
  }
}

function answered({ step, round, attempt }: CallEffect): RunEvent {
  const answer = { ending: Ending.SUCCEEDED, message: '', fields: new Map([['out', { bytes: result }]]) };
  const tries = [{ endpoint: 'e1', ending: Ending.SUCCEEDED, message: '', startedMs: nowMs, durationUs: 1_000 }];
  return { kind: 'answered', step, round, attempt, answer, tries };
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
