// A history as text: one line for each thing that happened, for people to read and for hashes to compare.

import { createHash } from 'node:crypto';
import type { Changes } from '../../../flow/change.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Ending, Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence } from '../../../store/port.ts';
import type { HistoryRecord, Submission } from './history.ts';

export function traceLine(record: HistoryRecord): string {
  return `${(record.atMs / 1_000).toFixed(3).padStart(9)}  ${tell(record)}`;
}

/** SHA-256 over all lines: equal when two histories are. */
export function traceHash(records: readonly HistoryRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) hash.update(traceLine(record)).update('\n');
  return hash.digest('hex');
}

function tell(record: HistoryRecord): string {
  switch (record.kind) {
    case 'world': {
      const { processes, faults, poison, isOnlyPoisoned } = record;
      const poisoned = poison.length > 0 ? `; poison: ${poison.join(', ')}${isOnlyPoisoned ? ' and no more' : ''}` : '';
      return `world of ${processes.join(' ')} with ${faults.join(', ')}${poisoned}`;
    }
    case 'process':
      return `${record.process} ${record.what}`;
    case 'healed':
      return 'healed: from here on nothing goes wrong';
    case 'fault':
      return `fault: ${record.fault} (${record.where})`;
    case 'error':
      return `${record.process} error while ${record.doing}: ${record.message}`;
    case 'write': {
      const { process, operation, run, before, expected, after, result, changes, release, writeId } = record;
      const how = result === 'done' ? `${fence(before)} → ${fence(after)}` : `${result}, is ${fence(before)}`;
      const wanted = expected ? ` at ${fence(expected)}` : '';
      const letGo = release ? ', lets go' : '';
      return `${process} ${operation} ${printableRun(run)}${wanted}: ${how}${letGo}${changed(changes)} [${writeId}]`;
    }
    case 'told':
      return `${record.process} hears of [${record.writeId}]: ${record.result}`;
    case 'peek':
      return `${record.process} asks how ${printableRun(record.run)} stands`;
    case 'promotion': {
      const { process, run, seen, actual } = record;
      return `${process} promotes ${printableRun(run)} seen at ${fence(seen)}, is ${fence(actual)}`;
    }
    case 'post': {
      const { process, event, run, result } = record;
      return `${process} post ${event.kind.case ?? 'nothing'} ${event.id} → ${printableRun(run)}: ${result}`;
    }
    case 'call': {
      const { process, number, run, step, round, attempt, epoch, callKey } = record;
      const which = `round ${round}, attempt ${attempt}, epoch ${epoch}`;
      return `${process} call #${number} ${printableRun(run)} ${step} (${which}) key ${callKey}`;
    }
    case 'receipt': {
      const { call, endpoint, request, isCopy } = record;
      const sent = [...request.fields].map(([name, value]) => ` ${name}=${value}`).join('');
      const which = `attempt ${request.attempt}, epoch ${request.epoch}, key ${request.callKey}`;
      return `${endpoint} gets ${isCopy ? 'a copy of ' : ''}#${call.number} ${request.step} (${which})${sent}`;
    }
    case 'delivery': {
      const { call, endpoint, ending, fields } = record;
      const values = [...fields].map(([name, value]) => ` ${name}=${value}`).join('');
      return `${endpoint} answers #${call.number} ${printableRun(call.run)} ${call.step}: ${Ending[ending]}${values}`;
    }
    case 'answer':
      return `${record.call.process} hears of #${record.call.number}: ${Ending[record.ending]}`;
    case 'withdrawal':
      return `${record.call.process} takes #${record.call.number} back`;
    case 'flow':
      return `flow ${record.flow} version ${record.version} is ${record.what}`;
    case 'client':
      return `client: ${record.what} ${printableRun(record.run)}${submitted(record.submission)} ${record.detail}`;
  }
}

function submitted(submission: Submission | undefined): string {
  if (!submission) return '';
  const { number, expectedGeneration, fields, created } = submission;
  const expecting = expectedGeneration > 0 ? `, expecting generation ${expectedGeneration}` : '';
  const values = [...fields].map(([name, value]) => ` ${name}=${value}`).join('');
  return ` (submission ${number}${expecting}${created === false ? ', was there' : ''})${values}`;
}

function fence(at: Fence | undefined): string {
  return at ? `(${at.epoch}, ${at.version})` : 'absent';
}

function changed({ control, steps, fields, consumed }: Changes): string {
  const parts: string[] = [];
  if (control) {
    const { state, reason, outcomeNumber } = control.status;
    const why = reason === Reason.UNSPECIFIED ? '' : `(${Reason[reason]})`;
    parts.push(`${State[state]}${why} outcome ${outcomeNumber}`);
  }
  for (const [id, state] of steps) {
    if (!state) {
      parts.push(`${id} removed`);
      continue;
    }
    const { status, round, attempts, losses, declines } = state;
    parts.push(`${id}=${StepStatus[status]} r${round} a${attempts} l${losses} d${declines}`);
  }
  for (const [key, value] of fields) {
    if (!key.startsWith('input/'))
      parts.push(`${key}=${value ? Buffer.from(value.bytes).toString('latin1') : 'removed'}`);
  }
  for (const id of consumed) parts.push(`consumes ${id}`);
  return parts.length > 0 ? `; ${parts.join(', ')}` : '';
}
