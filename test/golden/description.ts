// A decision as text: what changed, what was recorded, what is to be done, how the run stands.

import type { Effect } from '../../flow/effect.ts';
import type { FieldValue, Run, Status, StepState } from '../../flow/run.ts';
import type { Standing } from '../../flow/standing.ts';
import { AlarmKind, Ending, Reason, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Decided, startMs } from './golden-run.ts';

export function describeDecision({ before, after, changes, effects, standing }: Decided): string[] {
  const lines = [
    ...describeControl(before, after),
    ...[...changes.steps].map(([id, state]) => `${id}: ${stepText(before?.steps.get(id))} → ${stepText(state)}`),
    ...[...changes.fields].map(([key, value]) => `field ${key} = ${value === null ? 'removed' : valueText(value)}`),
    ...changes.executions.map(
      ({ step, ending, endpoint, droppedFields }) =>
        `record ${step} ${Ending[ending]}${endpoint === '' ? '' : ` at ${endpoint}`}${droppedFields === 0 ? '' : ` (${droppedFields} fields dropped)`}`,
    ),
    ...changes.consumed.map((id) => `consumed ${id}`),
    ...changes.alarms.map(({ kind, key, message }) => `alarm ${AlarmKind[kind]} [${key}] ${message}`),
    ...effects.map(effectText),
    standingText(standing),
  ];
  return lines.filter((line) => line !== '');
}

function describeControl(before: Run | undefined, after: Run): string[] {
  const lines: string[] = [];
  const from = before ? statusText(before.control.status) : 'new';
  const to = statusText(after.control.status);
  if (from !== to) lines.push(`run: ${from} → ${to}`);
  if (before && before.control.level !== after.control.level)
    lines.push(`level: ${before.control.level} → ${after.control.level}`);
  if (after.control.status !== before?.control.status && after.control.status.evidence.length > 0) {
    lines.push(`evidence: ${after.control.status.evidence.join('; ')}`);
  }
  return lines;
}

function statusText({ state, reason, detail, outcome, outcomeNumber }: Status): string {
  const towards = state === State.ENDING ? ` towards ${State[outcome]}` : '';
  const why = reason === Reason.UNSPECIFIED ? '' : `(${Reason[reason]})`;
  const number = outcomeNumber === 0 ? '' : ` #${outcomeNumber}`;
  return `${State[state]}${towards}${why}${number}${detail === '' ? '' : ` "${detail}"`}`;
}

function stepText(state: StepState | undefined): string {
  if (!state) return '–';
  const { status, round, attempts, losses, declines, dueMs, chosen, reason } = state;
  const notes: string[] = [];
  if (round > 1) notes.push(`round ${round}`);
  if (attempts > 0) notes.push(`${attempts} attempts spent`);
  if (losses > 0) notes.push(`${losses} losses`);
  if (declines > 0) notes.push(`${declines} declines`);
  if (status === StepStatus.SLEEPING) notes.push(`until ${timeText(dueMs)}`);
  if (chosen.length > 0) notes.push(`chose ${chosen.join(', ')}`);
  if (reason !== Reason.UNSPECIFIED) notes.push(Reason[reason]);
  return `${StepStatus[status]}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function valueText(value: FieldValue): string {
  return value.reference ? `at ${value.reference.location}` : JSON.stringify(new TextDecoder().decode(value.bytes));
}

function effectText(effect: Effect): string {
  if (effect.kind === 'abort') return `! abort ${effect.step}`;
  const fields = effect.fields.map(([name, value]) => `${name}=${valueText(value)}`).join(' ');
  const alone = effect.isSuspect ? ', as a suspect' : '';
  return `! call ${effect.module} for ${effect.step}, key ${effect.callKey}, attempt ${effect.attempt}${alone}: ${fields}`;
}

function standingText(standing: Standing): string {
  switch (standing.kind) {
    case 'calling':
      return '';
    case 'sleeping':
      return `= sleeping until ${timeText(standing.wakeMs)}`;
    case 'parked':
    case 'ended':
      return `= ${standing.kind}`;
  }
}

/** Since the run was submitted. */
function timeText(atMs: number): string {
  return `+${(atMs - startMs) / 1_000}s`;
}
