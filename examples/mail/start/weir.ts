// The `weir` command as a user calls it: what it prints with --json is what these functions return.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Mail } from '../corpus.ts';
import { flow, itemLines } from './item-lines.ts';

export interface Submitted {
  readonly accepted: number;
  /** Were there already, with the same content. */
  readonly existing: number;
  readonly refused: number;
}

export interface Summary {
  readonly runs: readonly { state: string; reason: string; count: number }[];
  readonly steps: readonly {
    step: string;
    module: string;
    endings: Readonly<Record<string, number>>;
    p50Ms: number;
    p99Ms: number;
  }[];
}

export interface ListedRun {
  readonly key: string;
  readonly state: string;
  readonly fields: Readonly<Record<string, string | undefined>>;
}

export interface Alarm {
  readonly kind: string;
  readonly message: string;
  readonly count: number;
}

export const engineAddress = '127.0.0.1:27100';
export const weirPath = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

/** Submits mails; those that are there already stay as they are. Throws when the command fails. */
export async function submit(mails: readonly Mail[], signal: AbortSignal): Promise<Submitted> {
  return JSON.parse(lines(await weir(['submit', '-'], signal, itemLines(mails))).at(-1) ?? '') as Submitted;
}

/** Runs by state, and the steps with their calls and times. */
export async function summarize(signal: AbortSignal): Promise<Summary> {
  return JSON.parse(await weir(['run', 'summary', '--flow', flow], signal)) as Summary;
}

/** As `summarize`, without the steps: cheap enough to be asked again and again. */
export async function countRuns(signal: AbortSignal): Promise<Summary> {
  return JSON.parse(await weir(['run', 'summary', '--flow', flow, '--no-steps'], signal)) as Summary;
}

export async function listRuns(signal: AbortSignal): Promise<ListedRun[]> {
  const printed = await weir(['run', 'list', '--flow', flow, '--fields', 'label,verdict', '--all'], signal);
  return lines(printed).map((line) => JSON.parse(line) as ListedRun);
}

export async function listAlarms(signal: AbortSignal): Promise<Alarm[]> {
  return lines(await weir(['alarm', 'list', '--all'], signal)).map((line) => JSON.parse(line) as Alarm);
}

/** Standard output of one command. Throws when it ends with another code than 0, with what it printed as an error. */
async function weir(command: readonly string[], signal: AbortSignal, input: Iterable<string> = []): Promise<string> {
  const child = spawn(process.execPath, [weirPath, ...command, '--address', engineAddress, '--json'], { signal });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [, output, errors, [code]] = await Promise.all([
    // A command that ends early says why by its code; that it left its input unread adds nothing.
    pipeline(Readable.from(input), child.stdin).catch(() => {}),
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  if (code !== 0) throw new Error(`weir ${command.join(' ')}: ${errors.trim() || `ended with code ${code}`}`);
  return output;
}

function lines(printed: string): string[] {
  return printed.split('\n').filter((line) => line.trim() !== '');
}
