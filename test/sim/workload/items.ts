// What is to be done in a world: the items that clients submit, and what their owners want of them afterwards.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { FlowItem } from '../../../dispatch/driver/submission.ts';
import type { Plan } from '../../../flow/plan.ts';
import { identity } from '../../../flow/run-id.ts';
import type { InboxEventSchema } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Random } from '../world/random.ts';
import { signalNames } from './draft.ts';

export type ClientEvent = Exclude<MessageInitShape<typeof InboxEventSchema>['kind'], undefined>;

export interface PlannedItem {
  readonly item: FlowItem;
  readonly submitAtMs: number;
  /** What its owner asks for, some time after it was acknowledged. */
  readonly wishes: ReadonlyArray<{ readonly afterMs: number; readonly kind: ClientEvent }>;
  /** Further submissions of the same item, some time after it was acknowledged. */
  readonly again: readonly Resubmission[];
  /** New generations that follow when the one before has ended. */
  readonly generations: number;
  /** How often its owner tries a failed or cancelled run again. */
  readonly retries: number;
  /** Whether its owner lets it go on when it is parked. */
  readonly releases: boolean;
}

export interface Resubmission {
  readonly afterMs: number;
  readonly withOtherFields: boolean;
  /** The generation that it expects to be there, relative to the newest that its owner knows of; undefined: it expects none. */
  readonly expected?: number;
}

export interface Workload {
  readonly plans: readonly Plan[];
  /** Items are submitted over so many ms. */
  readonly duringMs: number;
  /** How many of them kill whoever works on them. */
  readonly poisoned: number;
}

const counts = [8, 12, 16, 24, 40];
/** Longest time after which an owner wants something, in ms. */
const maxAfterMs = 30_000;

/** The items, and which of them are poison, as `business/flow/key`. */
export function plannedItems(
  random: Random,
  { plans, duringMs, poisoned }: Workload,
): { readonly items: readonly PlannedItem[]; readonly poison: ReadonlySet<string> } {
  const items = Array.from({ length: random.pick(counts) }, (_, index) => {
    const { name: flow, business } = random.pick(plans);
    const item = { business, flow, key: madeUpKey(random, index), level: random.between(1, 9) };
    const fields = new Map([['size', { bytes: Buffer.from(String(random.between(0, 9))) }]]);
    if (random.chance(0.8)) fields.set('list', { bytes: Buffer.from(JSON.stringify(madeUpList(random))) });
    return plannedItem(random, { ...item, fields }, { duringMs, isPoison: index < poisoned });
  });
  const poison = items.slice(0, poisoned).map(({ item }) => identity(item.business, item.flow, item.key));
  return { items, poison: new Set(poison) };
}

function plannedItem(
  random: Random,
  item: FlowItem,
  { duringMs, isPoison }: { duringMs: number; isPoison: boolean },
): PlannedItem {
  return {
    item,
    submitAtMs: random.between(0, duringMs),
    wishes: random.chance(0.4) ? Array.from({ length: random.between(1, 3) }, () => madeUpWish(random)) : [],
    again: random.chance(0.2) ? Array.from({ length: random.between(1, 2) }, () => resubmission(random)) : [],
    generations: random.chance(0.15) ? random.between(1, 2) : 0,
    retries: random.pick([0, 1, 2]),
    releases: !isPoison && random.chance(0.8),
  };
}

/** Most lists are short; the longest are longer than what may be under way at a time. */
function madeUpList(random: Random): unknown[] {
  const length = random.pick([0, 1, 2, 3, 3, 4, 5, 12]);
  return Array.from({ length }, (_, index) => random.pick<unknown>([index, `item ${index}`, { part: index }]));
}

/** Any bytes may name an item. */
function madeUpKey(random: Random, index: number): Uint8Array {
  return Buffer.from(random.chance(0.9) ? `item-${index + 1}` : `%\u00e9 /${index + 1}#`);
}

function madeUpWish(random: Random): PlannedItem['wishes'][number] {
  const afterMs = random.between(0, random.chance(0.5) ? 500 : maxAfterMs);
  if (random.chance(0.3)) return { afterMs, kind: signalFor(random) };
  if (random.chance(0.5)) return { afterMs, kind: { case: 'level', value: { level: random.between(1, 9) } } };
  return { afterMs, kind: { case: 'cancel', value: { cause: 'not wanted any more' } } };
}

/** A signal that some flows wait for, and a number with it. */
export function signalFor(random: Random): ClientEvent {
  const name = random.pick(signalNames);
  const number = String(random.between(0, 99));
  return { case: 'signal', value: { name, fields: { [`${name}_number`]: { value: Buffer.from(number) } } } };
}

function resubmission(random: Random): Resubmission {
  const plain = { afterMs: random.between(0, maxAfterMs), withOtherFields: random.chance(0.4) };
  return random.chance(0.4) ? plain : { ...plain, expected: random.pick([-1, 0, 3]) };
}
