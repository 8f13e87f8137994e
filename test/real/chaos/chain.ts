// The flow `chain` (chain.flow.yaml) as pure functions: what its items are, what becomes of each, and what its steps answer. The
// modules work by it and the audit judges by it, without the engine in between.

import { hash } from 'node:crypto';

export const business = 'chaos';
export const flow = 'chain';
export const flowFile = new URL('chain.flow.yaml', import.meta.url);

/** Of each call of the flow. */
export const tries = 5;
/** Of each call of the flow: the default. */
export const maxLosses = 5;

export const moduleNames = ['chaos.begin', 'chaos.branch', 'chaos.end'] as const;

/** The step at which a poison item ends the process of its module. */
export const poisonedStep = 'left';
export const exitStep = 'exit/0';

/**
 * How an item ends: `plain` succeeds; `rejected` and `fatal` fail by the answer of a step; `cancelled` is cancelled right after its
 * acknowledgement, which may come too late; `poison` is parked.
 */
export type Fate = 'plain' | 'rejected' | 'fatal' | 'cancelled' | 'poison';

export interface Item {
  /** From 0. */
  readonly number: number;
  readonly key: string;
  readonly fate: Fate;
}

/** The poison item is in the middle; the other fates are spread over all. */
export function item(number: number, items: number): Item {
  return { number, key: `item-${String(number).padStart(6, '0')}`, fate: fateOf(number, items) };
}

function fateOf(number: number, items: number): Fate {
  if (number === Math.floor(items / 2)) return 'poison';
  if (number % 50 === 7) return 'cancelled';
  if (number % 100 === 40) return 'rejected';
  return number % 250 === 113 ? 'fatal' : 'plain';
}

/** The one field that comes with an item. */
export function seedOf({ number, fate }: Item): string {
  return `${number} ${fate}`;
}

/** What a step answers to these fields, other than a failure: a function of its arguments. */
export function outputsOf(step: string, fields: Fields): Record<string, string> {
  const digest = hash('sha256', JSON.stringify([step, fields], Object.keys(fields).sort()), 'hex');
  if (step === exitStep) return {};
  if (step === 'open')
    return { root: digest.slice(0, 16), weight: String(Number.parseInt(digest.slice(0, 6), 16) % 30) };
  return { [step]: digest.slice(0, 16) };
}

export type Fields = Readonly<Record<string, string>>;

/** The code with which a step ends the run of an item, whoever asks and how often. */
export function verdictOf(step: string, fields: Fields): 'rejected' | 'fatal' | undefined {
  const fate = fields['seed']?.split(' ')[1];
  if (step === 'join' && fate === 'rejected') return fate;
  return step === 'right' && fate === 'fatal' ? fate : undefined;
}

/** Every output of a run that goes through to its end, by `step/field`. */
export function expectedFields(seed: string): ReadonlyMap<string, string> {
  const written = new Map<string, string>();
  const run = (step: string, fields: Fields): Record<string, string> => {
    const outputs = outputsOf(step, fields);
    for (const [name, value] of Object.entries(outputs)) written.set(`${step}/${name}`, value);
    return outputs;
  };
  const { root = '', weight = '' } = run('open', { seed });
  const { left = '' } = run('left', { seed, root });
  const { right = '' } = run('right', { seed, root });
  const { join = '' } = run('join', { seed, left, right });
  const { extra = '' } = Number(weight) % 3 === 0 ? run('extra', { join }) : {};
  const rest = Number(weight) % 5;
  const { low = '' } = rest === 0 ? run('low', { join }) : {};
  const { high = '' } = rest > 1 ? run('high', { join }) : {};
  run('close', { join, extra, low, high });
  return written;
}
