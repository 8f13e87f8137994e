// What the example prints when all mails are done: plain text from plain data.
import { isReference } from '../corpus.ts';
import { maskAddresses } from '../mask.ts';
import type { Alarm, ListedRun, Summary } from './weir.ts';

export interface Outcome {
  readonly summary: Summary;
  readonly runs: readonly ListedRun[];
  readonly alarms: readonly Alarm[];
  /** From the start of submission until the last mail was settled. */
  readonly seconds: number;
  /** Mails settled in that time; fewer than all when an earlier start had settled some. */
  readonly settledNow: number;
}

type Cell = string | number;

const maxAlarms = 5;
const verdicts = ['publish', 'review', 'quarantine', 'none'] as const;
type Verdict = (typeof verdicts)[number];

export function report(outcome: Outcome): string {
  const sections = [
    outcomes(outcome.summary),
    labelsAgainstVerdicts(outcome.runs),
    accuracy(outcome.runs),
    speed(outcome),
    steps(outcome.summary),
    alarms(outcome.alarms),
  ];
  return sections.join('\n\n');
}

/** What a reader may try next, while the engine runs. */
export function nextSteps(engineAddress: string): string {
  const weir = (command: string) => `  npm run weir -- ${command} --address ${engineAddress}`;
  return [
    'Look next at the runs, at one run with its steps and calls, and at the modules:',
    weir('run list --flow mail-intake'),
    weir('run get mail/mail-intake/spam-1/00001'),
    weir('module list'),
    'and at what made them: examples/mail/mail-intake.flow.yaml, examples/mail/intake-process.ts',
  ].join('\n');
}

function outcomes(summary: Summary): string {
  const rows = summary.runs.map(({ state, reason, count }): Cell[] => [reason ? `${state} (${reason})` : state, count]);
  return table(['Outcome', 'mails'], rows);
}

function verdictOf(run: ListedRun): Verdict {
  return verdicts.find((verdict) => verdict === run.fields['verdict']) ?? 'none';
}

function labelsAgainstVerdicts(runs: readonly ListedRun[]): string {
  const rows = ['ham', 'spam'].map((label): Cell[] => {
    const labelled = runs.filter((run) => run.fields['label'] === label);
    return [label, ...verdicts.map((verdict) => labelled.filter((run) => verdictOf(run) === verdict).length)];
  });
  return table(['Label against verdict', ...verdicts], rows);
}

function accuracy(runs: readonly ListedRun[]): string {
  const judged = runs.filter((run) => !isReference(run.key) && verdictOf(run) !== 'none');
  const share = (label: string) => {
    const labelled = judged.filter((run) => run.fields['label'] === label);
    const quarantined = labelled.filter((run) => verdictOf(run) === 'quarantine').length;
    return `${quarantined.toLocaleString('en')} of ${labelled.length.toLocaleString('en')} ${label}`;
  };
  return `Of the mails that mail.score had not learned from, it put into quarantine ${share('spam')} and ${share('ham')}.`;
}

function speed({ settledNow, seconds }: Outcome): string {
  if (settledNow === 0) return 'All mails were done already.';
  const rate = Math.round(settledNow / Math.max(seconds, 0.001));
  return `${settledNow.toLocaleString('en')} mails in ${seconds.toFixed(1)} s: ${rate.toLocaleString('en')} items/s`;
}

function steps(summary: Summary): string {
  const rows = summary.steps.map(({ step, module, endings, p50Ms, p99Ms }): Cell[] => {
    const calls = Object.values(endings).reduce((sum, count) => sum + count, 0);
    const others = Object.entries(endings).filter(([ending]) => ending !== 'SUCCEEDED');
    const noted = others.map(([ending, count]) => `${ending} ${count}`).join(', ');
    return [step, module, calls, p50Ms.toFixed(1), p99Ms.toFixed(1), noted];
  });
  return table(['Step', 'module', 'calls', 'p50 ms', 'p99 ms', 'other endings'], rows);
}

function alarms(all: readonly Alarm[]): string {
  if (all.length === 0) return 'Alarms: none';
  const shown = all
    .slice(0, maxAlarms)
    .map(({ kind, message, count }) => `  ${kind}: ${maskAddresses(message)} (${count})`);
  const more = all.length > maxAlarms ? [`  and ${all.length - maxAlarms} more: npm run weir -- alarm list`] : [];
  return [`Alarms: ${all.length}`, ...shown, ...more].join('\n');
}

/** Columns as wide as their widest cell; numbers to the right. */
function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const isNumber = (text: string) => /^[\d.,]+$/u.test(text);
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
  );
  const width = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const right = head.map((_, column) => lines.slice(1).some((line) => isNumber(line[column] ?? '')));
  const pad = (text: string, column: number) =>
    right[column] === true ? text.padStart(width[column] ?? 0) : text.padEnd(width[column] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
