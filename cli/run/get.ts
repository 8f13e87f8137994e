// `weir run get`

import { Ending, type Execution, Reason, type StepCell, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type FieldView, type Run, Runs, type StepView } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { type Cell, table } from '../output/table.ts';
import { enumName, printedMs, printedTime, shownBytes } from '../output/text.ts';
import { printRun, type RunArgument } from '../run-argument.ts';
import { fieldJson, runJson, runText, stateText } from './print-run.ts';
import { waitingObject, waitingText } from './print-waiting.ts';

/** Characters of a value in a table. */
const maxShownCharacters = 80;

/** What is shown besides the steps. */
export interface ShownParts {
  readonly fields?: boolean;
  readonly calls?: boolean;
}

export async function getRun(name: RunArgument, shown: ShownParts, address: string, printer: Printer): Promise<void> {
  const request = { run: name, withFields: shown.fields === true, withExecutions: shown.calls === true };
  const { run } = await askEngine(Runs, address, (runs) => runs.get(request, callOptions));
  if (!run) return;
  if (printer.json) return printer.line(toJson(toObject(run, shown)));
  const parts = [headText(run), table(stepHead, run.steps.map(stepRow))];
  if (shown.fields) parts.push(table(['WRITER', 'FIELD', 'VALUE'], run.fields.map(fieldRow)));
  if (shown.calls) parts.push(table(callHead, run.executions.map(callRow)));
  printer.line(parts.join('\n\n'));
}

function toObject(run: Run, shown: ShownParts) {
  const { status, level, flowVersion, holder, epoch, version } = run;
  return {
    ...runJson(run),
    ...{ level, flowVersion, holder, epoch, version },
    outcomeNumber: status?.outcomeNumber,
    evidence: status?.evidence,
    createdAt: printedTime(run.createdAt),
    deadlineAt: printedTime(run.deadlineAt),
    ...(run.parent && { parent: printRun(run.parent) }),
    steps: run.steps.map(stepObject),
    ...(shown.fields && {
      fields: run.fields.map((field) => ({ writer: field.writer, name: field.name, value: fieldJson(field) })),
    }),
    ...(shown.calls && { calls: run.executions.map(callObject) }),
  };
}

function stepObject({ id, cell, child, waiting }: StepView) {
  const { round, attempts, losses, declines, code, message, chosen } = cell ?? ({} as Partial<StepCell>);
  return {
    step: id,
    status: enumName(StepStatus, cell?.status ?? 0),
    reason: enumName(Reason, cell?.reason ?? 0),
    ...{ round, attempts, losses, declines, code, message },
    startedAt: printedMs(cell?.startedMs ?? 0n),
    endedAt: printedMs(cell?.endedMs ?? 0n),
    dueAt: printedMs(cell?.dueMs ?? 0n),
    ...(chosen && chosen.length > 0 && { chosen }),
    ...(child && { child: printRun(child) }),
    ...(waiting && { waitsFor: waitingObject(waiting) }),
  };
}

function callObject({ step, round, attempt, module, endpoint, ending, code, message, ...times }: Execution) {
  return {
    ...{ step, round, attempt, module, endpoint },
    ending: enumName(Ending, ending),
    ...{ code, message },
    startedAt: printedMs(times.startedMs),
    durationMs: Number(times.durationUs) / 1_000,
    droppedFields: times.droppedFields,
    epoch: times.epoch,
  };
}

function headText(run: Run): string {
  const { status, level, flowVersion, activity, holder } = run;
  const lines = [
    `${runText(run)}: ${stateText(run)}${activity === '' ? '' : `, ${activity}`} since ${printedTime(run.since)}`,
    `created ${printedTime(run.createdAt)}, deadline ${printedTime(run.deadlineAt)}`,
    `flow version ${flowVersion}, level ${level}, outcome number ${status?.outcomeNumber ?? 0}`,
  ];
  if (status && status.detail !== '') lines.push(status.detail.replaceAll(/\s+/g, ' '));
  if (run.parent) lines.push(`started by ${printRun(run.parent)}`);
  if (holder !== '') lines.push(`held by ${holder}`);
  if (status && status.evidence.length > 0) lines.push(`evidence: ${status.evidence.join(', ')}`);
  return lines.join('\n');
}

const stepHead = ['STEP', 'STATUS', 'ROUND', 'SPENT TRIES', 'LOSSES', 'DECLINES', 'MESSAGE'];

function stepRow({ id, cell, child, waiting }: StepView): Cell[] {
  const { status = 0, round = 0, attempts = 0, losses = 0, declines = 0, message = '', chosen = [] } = cell ?? {};
  const notes = chosen.length > 0 ? [`chose ${chosen.join(', ')}`] : message === '' ? [] : [message];
  if (waiting) notes.push(`waits for ${waitingText(waiting)}`);
  else if (child) notes.push(`started ${printRun(child)}`);
  return [
    id,
    enumName(StepStatus, status),
    round,
    attempts,
    losses,
    declines,
    notes.join('; ').replaceAll(/\s+/g, ' '),
  ];
}

function fieldRow({ writer, name, cell }: FieldView): Cell[] {
  const value = cell?.reference?.location ?? shownBytes(cell?.value ?? new Uint8Array(), maxShownCharacters);
  return [writer, name, value];
}

const callHead = ['STEP', 'ROUND', 'ATTEMPT', 'ENDPOINT', 'ENDING', 'MS', 'STARTED', 'MESSAGE'];

function callRow({ step, round, attempt, endpoint, ending, durationUs, startedMs, message }: Execution): Cell[] {
  const durationMs = (Number(durationUs) / 1_000).toFixed(1);
  const line = message.replaceAll(/\s+/g, ' ');
  return [step, round, attempt, endpoint, enumName(Ending, ending), durationMs, printedMs(startedMs) ?? '', line];
}
