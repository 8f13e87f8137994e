// weir.runs.v1.Runs: what the world asks of the engine. One file per group of methods.

import { type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { actHandlers } from './act.ts';
import type { ActingPorts } from './actable.ts';
import { type InspectingPorts, inspectHandlers } from './inspect.ts';
import { sayHandlers } from './say.ts';
import { submitHandlers } from './submit.ts';
import { summarizeHandlers } from './summarize.ts';

export interface RunsPorts extends ActingPorts, InspectingPorts {
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export function runsService(ports: RunsPorts): ImplementedService {
  return implement(Runs, {
    ...submitHandlers(ports.dispatch),
    ...inspectHandlers(ports),
    ...summarizeHandlers(ports.store, ports.random),
    ...actHandlers(ports),
    ...sayHandlers(ports),
  });
}
