// A decision as text: what changed, what was recorded, what is to be done, how the run stands.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { AlarmKind, Ending, Reason, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { countBits } from '../bits.ts';
import type { ChildName, Effect } from '../effect.ts';
import type { Branches, Control, FieldValue, Status, StepState } from '../run.ts';
import { printableKey, printableRun } from '../run-id.ts';
import type { Standing } from '../standing.ts';
import type { Moment, Simulation } from './simulate.ts';
import { type Before, type Decided, startMs } from './virtual-run.ts';

/** What happened at a moment, and below it, indented, what was decided. */
export function describeMoment({ atMs, what, decided }: Moment): string[] {
  const head = `${timeText(startMs + atMs)} ${what}`.trimEnd();
  return [head, ...describeDecision(decided).map((line) => `  ${line}`)];
}

/** How the run stands at the end: `FAILED(DEADLINE) after 10s: …`. */
export function describeEnd({ status: { state, reason, detail }, sinceMs }: Simulation): string {
  const why = reason === Reason.UNSPECIFIED ? '' : `(${Reason[reason]})`;
  return `${State[state]}${why} after ${sinceMs / 1_000}s${detail === '' ? '' : `: ${detail}`}`;
}

/** One line for each thing that a decision changed, recorded or asked for; the last one says how the run stands unless calls are out. */
export function describeDecision({ before, control, changes, effects, standing }: Decided): string[] {
  const lines = [
    ...describeControl(before, control),
    ...[...changes.steps].map(
      ([id, state]) => `${id}: ${stepText(before?.steps.get(id))} → ${state ? stepText(state) : 'removed'}`,
    ),
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

function describeControl(before: Before | undefined, after: Control): string[] {
  const lines: string[] = [];
  const from = before ? statusText(before.control.status) : 'new';
  const to = statusText(after.status);
  if (from !== to) lines.push(`run: ${from} → ${to}`);
  if (before && before.control.flowVersion !== after.flowVersion) {
    lines.push(`version: ${before.control.flowVersion} → ${after.flowVersion}`);
  }
  if (before && before.control.level !== after.level) lines.push(`level: ${before.control.level} → ${after.level}`);
  if (after.status !== before?.control.status && after.status.evidence.length > 0) {
    lines.push(`evidence: ${after.status.evidence.join('; ')}`);
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
  const { status, round, attempts, losses, declines, dueMs, chosen, branches, reason, message } = state;
  const notes: string[] = [];
  if (round > 1) notes.push(`round ${round}`);
  if (attempts > 0) notes.push(`${attempts} attempts spent`);
  if (losses > 0) notes.push(`${losses} losses`);
  if (declines > 0) notes.push(`${declines} declines`);
  if (status === StepStatus.SLEEPING) notes.push(`until ${timeText(dueMs)}`);
  if (chosen.length > 0) notes.push(`chose ${chosen.join(', ')}`);
  if (branches) notes.push(branchesText(branches));
  if (reason !== Reason.UNSPECIFIED) notes.push(Reason[reason]);
  if (status === StepStatus.DONE && message !== '') notes.push(JSON.stringify(message));
  return `${StepStatus[status]}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function branchesText({ count, done, failed }: Branches): string {
  return `${countBits(done)} done and ${countBits(failed)} failed of ${count}`;
}

function valueText(value: FieldValue): string {
  return value.reference ? `at ${value.reference.location}` : JSON.stringify(getTextEncoding().decodeUtf8(value.bytes));
}

function effectText(effect: Effect): string {
  switch (effect.kind) {
    case 'abort':
      return `! abort ${effect.step}`;
    case 'call': {
      const { module, step, callKey, attempt, isSuspect, fields } = effect;
      const alone = isSuspect ? ', as a suspect' : '';
      return `! call ${module} for ${step}, key ${callKey}, attempt ${attempt}${alone}: ${fieldsText(fields)}`;
    }
    case 'start': {
      const { name, step, level, parent, deadlineMs, retryId, fields } = effect;
      const until = deadlineMs === undefined ? '' : `, until ${timeText(deadlineMs)}`;
      const chain = parent.waits ? '' : `, run ${parent.chain} of a chain`;
      const again = retryId === undefined ? '' : ', again';
      return `! start ${childText(name)} for ${step}${again}, level ${level}${until}${chain}: ${fieldsText(fields)}`;
    }
    case 'tell': {
      const { to, event, ifAbsent } = effect;
      const name = typeof to === 'string' ? printableRun(to) : childText(to);
      const absent = ifAbsent === 'nothing' ? '' : ', also if it is not there';
      return `! tell ${name}: ${event.kind.case ?? 'nothing'} [${event.id}]${absent}`;
    }
  }
}

function childText({ flow, version, itemKey }: ChildName): string {
  return `${flow}${version === 0 ? '' : ` version ${version}`} of ${printableKey(itemKey)}`;
}

function fieldsText(fields: ReadonlyArray<readonly [string, FieldValue]>): string {
  return fields.map(([name, value]) => `${name}=${valueText(value)}`).join(' ');
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
