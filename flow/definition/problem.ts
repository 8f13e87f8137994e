// What is wrong with a flow, and where.

import { flowLimits } from './limits.ts';
import type { RuleId } from './rules.ts';

/** A place in a text: both from 1; a column counts UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface FlowProblem {
  readonly rule: RuleId;
  /** As in `steps.verdict.switch[0].when`; empty for the whole flow. */
  readonly path: string;
  /** What was found and what is allowed. */
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** A problem of a flow that has no text. */
export type FlowFault = Pick<FlowProblem, 'rule' | 'path' | 'message'>;

export type Report = (rule: RuleId, path: string, message: string) => void;

/** Collects faults up to `flowLimits.maxProblems` of each group of rules; the rest is dropped. */
export function faultCollector(): { readonly faults: FlowFault[]; readonly report: Report } {
  const faults: FlowFault[] = [];
  const report: Report = (rule, path, message) => {
    if (faults.length < flowLimits.maxProblems) faults.push({ rule, path, message });
  };
  return { faults, report };
}

/** `path.key`, or `path["key"]` where the key is no plain name. */
export function childPath(path: string, key: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(key)) return `${path}[${quoted(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** For messages: in quotes, and cut after 40 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
