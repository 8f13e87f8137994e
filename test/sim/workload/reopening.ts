// How a person lets a run go on that has ended: from what failed or from a step, on its version or on another.

import type { Control } from '../../../flow/run.ts';
import type { FlowVersions } from '../world/flow-versions.ts';
import type { Random } from '../world/random.ts';
import type { ClientEvent } from './items.ts';

export function goOnFrom(random: Random, flows: FlowVersions, { flow, flowVersion, status }: Control): ClientEvent {
  // A request may name an outcome that is past: it must change nothing.
  const outcomeNumber = random.chance(0.1) ? Math.max(0, status.outcomeNumber - 1) : status.outcomeNumber;
  const moved = random.chance(0.2) ? random.pick(flows.published(flow)) : 0;
  const steps = flows.planOf(flow, flowVersion)?.steps ?? [];
  if (random.chance(0.7) || steps.length === 0) return { case: 'retry', value: { outcomeNumber, flowVersion: moved } };
  const step = random.chance(0.05) ? 'no_such_step' : random.pick(steps).id;
  return { case: 'rewind', value: { outcomeNumber, step, flowVersion: moved } };
}
