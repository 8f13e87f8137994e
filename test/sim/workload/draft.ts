// A flow that is being made up: its steps and fields so far, and the single steps that blocks are built from.

import type { Random } from '../world/random.ts';

/** A flow that others may run as a child. */
export interface ChildFlow {
  readonly name: string;
  /** Fields that it leaves, all of them numbers. */
  readonly leaves: readonly string[];
}

export interface FlowMaking {
  readonly name: string;
  readonly business: string;
  readonly version: number;
  /** Losses that a step is allowed, one of them for each. */
  readonly maxLosses: readonly number[];
  /** Only calls, switches and inline steps. */
  readonly isPlain: boolean;
  /** Flows whose runs it may start and wait for. */
  readonly children: readonly ChildFlow[];
  /** Flows whose runs it may start without waiting. */
  readonly starts: readonly string[];
  /** Fields that it leaves for a parent. */
  readonly leaves: readonly string[];
}

export interface Draft {
  readonly random: Random;
  readonly making: FlowMaking;
  readonly fields: Record<string, unknown>;
  readonly steps: Record<string, Record<string, unknown>>;
  /** Fields with numbers that steps so far write. */
  readonly numbers: string[];
  /** Fields that steps so far receive from children. */
  readonly received: Set<string>;
  /** Names of signals that steps so far wait for. */
  readonly signals: Set<string>;
}

/** Makes one step, whose predecessors are `after`; answers its id. */
export type Single = (draft: Draft, after: readonly string[]) => string;

/** Signals that flows wait for. Their fields are called `<signal>_number`. */
export const signalNames = ['go', 'stop'] as const;

/** Module names with this beginning take work on and answer later. */
export const callbackModules = 'callbacks.';

export function call(draft: Draft, after: readonly string[]): string {
  const id = newId(draft);
  draft.steps[id] = { ...common(draft, after), ...callKeys(draft, id), receive: outputs(draft, id) };
  return id;
}

/** What a step waits for, and on what condition it begins. */
export function common({ random, numbers }: Draft, after: readonly string[]): Record<string, unknown> {
  return {
    ...(after.length > 0 && { after }),
    ...(random.chance(0.1) && { when: `${random.pick(numbers)} % 4 != 0` }),
  };
}

/** Declares the fields that modules answer to a step with; answers their names. */
export function outputs({ numbers, fields }: Draft, id: string): string[] {
  const number = `${id}_number`;
  fields[number] = { type: 'int', default: 0 };
  numbers.push(number);
  return [number, `${id}_mark`];
}

export function callKeys({ random, numbers, making }: Draft, id: string): Record<string, unknown> {
  return {
    // Some modules are called by many steps of all flows, so that calls wait for places.
    call: `modules.${random.chance(0.4) ? 'shared' : id}`,
    send: [random.pick(numbers)],
    timeout: random.pick(['500ms', '2s', '20s']),
    retry: { tries: random.between(1, 4), first: '100ms', max: random.pick(['500ms', '5s']) },
    max_losses: random.pick(making.maxLosses),
  };
}

export function newId({ steps }: Draft): string {
  const id = `step${Object.keys(steps).length + 1}`;
  // Steps stand in the text in the order of their making, also those that are filled in later.
  steps[id] = {};
  return id;
}
