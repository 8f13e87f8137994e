// The example from start to end: processes, submission, waiting, report.
//
// Owns: the children. Invariants:
//  D1  The engine starts after all modules serve and stops before them, so that no call meets a stopped module.
//  D2  However run() ends, no child is left.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listMails } from '../corpus.ts';
import { listening } from '../modules/directory.ts';
import { Child } from './child.ts';
import { clusterEngines, clusterProcesses, type EngineProcess, prepareCluster, singleEngine } from './engines.ts';
import { untilServing } from './health.ts';
import type { Options } from './options.ts';
import type { Progress } from './progress.ts';
import { nextSteps, report } from './report.ts';
import { countByState, countSettled } from './summary-counts.ts';
import { countRuns, engineAddress, listAlarms, listRuns, type Submitted, submit, summarize } from './weir.ts';

export interface Surroundings {
  readonly options: Options;
  /** Aborted when the user wants to stop. */
  readonly interrupted: AbortSignal;
  readonly progress: Progress;
  /** Prints a line for people. */
  readonly say: (line: string) => void;
  /** Prints a line for programs. */
  readonly result: (line: string) => void;
}

const exampleFolder = fileURLToPath(new URL('..', import.meta.url));
// A module that dies once may have been killed to try it; one that dies five times is broken.
const maxModuleRestarts = 5;
const restartDelayMs = 500;
// Learning takes about three seconds; a busy machine gets time.
const moduleStartTimeoutMs = 60_000;
const engineStartTimeoutMs = 30_000;
// A poll reads all runs: often enough to see progress, seldom enough not to take part in it.
const pollMs = 2_000;
// Polls that may fail in a row before that is taken for the engine's failure.
const maxFailedPolls = 5;

class Failure extends Error {}

/** Runs the example. Returns the exit code: 0 when every mail was accepted and has ended; 130 when it was interrupted before. */
export async function run(surroundings: Surroundings): Promise<number> {
  const { options, interrupted, say } = surroundings;
  const failed = new AbortController();
  const signal = AbortSignal.any([interrupted, failed.signal]);
  const children: Child[] = [];
  const start: Start = (process, maxRestarts) => {
    const logPath = join(options.data, 'logs', `${process.name}.log`);
    const child = new Child({ ...process, logPath, maxRestarts, restartDelayMs, onRestart: say });
    children.push(child);
    void child.ended.then((message) => failed.abort(new Failure(message)));
  };
  try {
    mkdirSync(join(options.data, 'logs'), { recursive: true });
    if (options.cluster) await prepareCluster(say, signal);
    await startModules(start, options, say, signal);
    await startEngine(start, options, say, signal);
    const code = await processCorpus(surroundings, signal);
    if (!options.exit) {
      say(
        `\n${nextSteps(engineAddress)}\n\nThe engine runs until Ctrl-C.${options.cluster ? ' The services go on: npm run services -- down.' : ''}`,
      );
      await aborted(signal);
    }
    if (failed.signal.aborted) throw failed.signal.reason;
    return code;
  } catch (error) {
    if (interrupted.aborted) return 130;
    say(failed.signal.aborted ? (failed.signal.reason as Failure).message : (error as Error).message);
    return 1;
  } finally {
    surroundings.progress.clear();
    for (const child of children.reverse()) await child.stop();
  }
}

type Start = (process: EngineProcess, maxRestarts: number) => void;

async function startModules(
  start: Start,
  { cluster }: Options,
  say: Surroundings['say'],
  signal: AbortSignal,
): Promise<void> {
  say('Starting the modules: two processes, which learn from a fifth of the corpus.');
  for (const name of ['intake', 'scoring']) {
    const commandLine = [join(exampleFolder, `${name}-process.ts`)];
    start({ name, commandLine, ...(cluster && { environment: { WEIR_ENGINES: clusterEngines } }) }, maxModuleRestarts);
  }
  // Each process serves mail.score last.
  for (const endpoint of [0, 1]) {
    const { address } = listening('mail.score', endpoint);
    if (await untilServing(address, moduleStartTimeoutMs, signal)) continue;
    signal.throwIfAborted();
    throw new Failure(`mail.score at ${address} does not serve after ${moduleStartTimeoutMs / 1_000} s`);
  }
}

async function startEngine(
  start: Start,
  { cluster, data }: Options,
  say: Surroundings['say'],
  signal: AbortSignal,
): Promise<void> {
  say(cluster ? 'Starting two dispatches and two spouts.' : 'Starting the engine.');
  for (const process of cluster ? clusterProcesses(data) : singleEngine(data)) {
    start(process, 0);
    const { name, address } = process;
    if (address === undefined || (await untilServing(address, engineStartTimeoutMs, signal))) continue;
    signal.throwIfAborted();
    throw new Failure(`${name} at ${address} does not serve after ${engineStartTimeoutMs / 1_000} s`);
  }
}

async function processCorpus({ options, progress, say, result }: Surroundings, signal: AbortSignal): Promise<number> {
  const mails = listMails().slice(0, options.limit);
  say(`Submitting ${mails.length.toLocaleString('en')} mails.`);
  const before = countSettled(await countRuns(signal)).settled;
  const startMs = performance.now();
  const submission = submit(mails, signal);
  await untilSettled(mails.length, submission, progress, signal);
  const seconds = (performance.now() - startMs) / 1_000;
  const summary = await summarize(signal);
  const [runs, alarms, { refused }] = [await listRuns(signal), await listAlarms(signal), await submission];
  const { settled } = countSettled(summary);
  say(`\n${report({ summary, runs, alarms, seconds, settledNow: settled - before })}`);
  if (refused > 0) say(`\nRefused: ${refused.toLocaleString('en')} mails`);
  const byState = countByState(summary);
  if (options.json) result(JSON.stringify({ items: settled, byState, seconds: Math.round(seconds * 10) / 10 }));
  return refused === 0 && (byState['PARKED'] ?? 0) === 0 ? 0 : 1;
}

async function untilSettled(
  expected: number,
  submission: Promise<Submitted>,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  let submitted = false;
  const watched = submission.then(() => {
    submitted = true;
  });
  // Whoever waits for it meets its failure; that nobody may be waiting at that moment is no mistake.
  watched.catch(() => {});
  for (let failedPolls = 0; ; ) {
    // Read before the poll: only what was submitted then is sure to be counted.
    const complete = submitted;
    try {
      const { runs, settled } = countSettled(await countRuns(signal));
      failedPolls = 0;
      progress.show(settled, Math.max(runs, expected));
      if (complete && settled === runs) return;
    } catch (error) {
      failedPolls += 1;
      if (signal.aborted || failedPolls === maxFailedPolls) throw error;
    }
    const pausing = pause(pollMs, undefined, { signal });
    // A submission that fails ends the waiting at once.
    await (submitted ? pausing : Promise.race([pausing, watched]));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
