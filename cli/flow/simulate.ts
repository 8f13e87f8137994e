// `weir flow simulate`

import { compileFlow } from '../../flow/compile.ts';
import { readScript, type ScriptProblem } from '../../flow/simulation/script.ts';
import { type Moment, type Simulation, simulate } from '../../flow/simulation/simulate.ts';
import { describeDecision, describeEnd, describeMoment } from '../../flow/simulation/trace.ts';
import { Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';
import { printProblem } from '../flow-file.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { enumName } from '../output/text.ts';
import { readTextFile } from '../read-file.ts';
import { flowOfFile } from './flow-argument.ts';

/** Bytes of a script. Fields of real items fit in. */
const maxScriptBytes = 400_000;

/** Prints the trace: with JSON one object for each decision, and one for the end. */
export function simulateFlow(flowPath: string, scriptPath: string, printer: Printer): void {
  // A simulation has one version: whatever number it gets is shown nowhere.
  const plan = compileFlow(flowOfFile(flowPath), 1);
  const reading = readScript(readTextFile('--script', scriptPath, maxScriptBytes), plan);
  const inScript = (problem: ScriptProblem): string => printProblem({ file: scriptPath, ...problem });
  if (reading.kind === 'problems') {
    throw usageFailure(`--script: nothing was simulated\n${reading.problems.map(inScript).join('\n')}`);
  }
  const simulation = simulate(plan, reading.script);
  const { fault, status } = simulation;
  for (const moment of simulation.moments) printMoment(moment, printer);
  for (const warning of simulation.warnings) console.error(`warning: ${inScript(warning)}`);
  if (fault) throw usageFailure(inScript(fault));
  printEnd(simulation, printer);
  if (status.state !== State.SUCCEEDED) throw new CommandFailure(exitCodes.failed, 'the run did not succeed');
}

function printMoment(moment: Moment, printer: Printer): void {
  if (!printer.json) return printer.line(describeMoment(moment).join('\n'));
  const { atMs, what, decided } = moment;
  printer.line(toJson({ atMs, what, trace: describeDecision(decided) }));
}

function printEnd(simulation: Simulation, printer: Printer): void {
  if (!printer.json) return printer.line(describeEnd(simulation));
  const { status, sinceMs: atMs } = simulation;
  const { state, reason, detail } = status;
  printer.line(toJson({ atMs, state: State[state], reason: enumName(Reason, reason), detail }));
}
