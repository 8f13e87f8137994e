// What is done to the processes, drawn from a seed before anything starts.

import { type Place, places } from '../../../cli/roles/fail-points.ts';
import { Random } from '../../sim/world/random.ts';
import type { Role } from './supervised-process.ts';

export interface Disturbance {
  readonly kind: 'kill' | 'pause';
  /** Index of the process. */
  readonly victim: number;
  /** Milliseconds to wait since the disturbance before, at least. */
  readonly afterMs: number;
}

export interface Plan {
  readonly seed: number;
  readonly disturbances: readonly Disturbance[];
  /** For the engines' WEIR_FAIL_POINT, in the order in which they are armed. */
  readonly failPoints: readonly string[];
}

/**
 * Kills for each kill of an engine. Engines die at fail points too, about as often; were it more in a row, chaos would show how many
 * losses a step may have, and nothing else.
 */
const killsPerEngineKill = 3;
/** Kills for each pause of a process. */
const killsPerPause = 8;
/** Between two disturbances; what is to be seen in between takes its time too. */
const gapMs = { least: 700, most: 1_500 };
/** Fail points at which the process stops instead of ending. */
const stops = 2;

/**
 * Which time a place is passed when it strikes, by what is passed. Often enough passed within the life of an engine that it is
 * reached; what is passed at every claim strikes while the engine recovers, now and then.
 */
const times: Readonly<Record<string, { readonly least: number; readonly most: number }>> = {
  create: { least: 1, most: 60 },
  claim: { least: 1, most: 40 },
  commit: { least: 20, most: 400 },
  release: { least: 1, most: 2 },
  finish: { least: 10, most: 60 },
  call: { least: 20, most: 400 },
  post: { least: 1, most: 1 },
  promote: { least: 1, most: 2 },
  lock: { least: 1, most: 40 },
};

/**
 * A plan with so many kills, for processes of these roles: every place of `fail-points.ts` once, two more to stop at. Every third
 * kill is for an engine, which may be armed after it.
 */
export function drawPlan(seed: number, kills: number, roles: readonly Role[]): Plan {
  const random = new Random(seed, 'disturbances');
  const disturbances: Disturbance[] = [];
  const add = (kind: Disturbance['kind'], among: readonly Role[]) => {
    const victims = roles.flatMap((role, index) => (among.includes(role) ? [index] : []));
    disturbances.push({ kind, victim: random.pick(victims), afterMs: random.between(gapMs.least, gapMs.most) });
  };
  for (let kill = 1; kill <= kills; kill++) {
    add('kill', [kill % killsPerEngineKill === 0 ? 'engine' : 'module']);
    if (kill % killsPerPause === 0) add('pause', ['engine', 'module']);
  }
  return { seed, disturbances, failPoints: drawFailPoints(new Random(seed, 'fail points')) };
}

function drawFailPoints(random: Random): string[] {
  const timeAt = (place: Place): number => {
    const { least, most } = times[place.split('-')[1] ?? ''] ?? { least: 1, most: 1 };
    return random.between(least, most);
  };
  const failPoints = places.map((place) => `${place}:${timeAt(place)}`);
  for (let stop = 0; stop < stops; stop++) {
    const place = random.pick(places);
    failPoints.push(`${place}:${timeAt(place)}:stop`);
  }
  return shuffled(failPoints, random);
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.between(0, left.length - 1), 1));
}

/** For people: one line for what is to come. */
export function printPlan({ seed, disturbances, failPoints }: Plan, names: readonly string[]): string {
  const lines = disturbances.map(({ kind, victim, afterMs }) => `${kind} ${names[victim]} after ${afterMs} ms`);
  return `seed ${seed}\nplan: ${lines.join(', ')}\nfail points: ${failPoints.join(', ')}`;
}
