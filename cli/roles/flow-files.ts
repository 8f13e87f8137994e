// The flows that an engine is started with.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';
import { type FileProblem, type FlowFile, printProblem, readFlowFile } from '../flow-file.ts';
import { fileFailure } from '../read-file.ts';

const flag = '--flows';
const suffix = '.flow.yaml';

/** Files of one folder: more flows are pushed while the engine runs. */
const maxFiles = 1_000;

/**
 * Reads the flow in a file, or all flows of a folder, `*.flow.yaml`, by name. All or nothing: throws a CommandFailure that
 * lists every problem of every file.
 */
export function readFlows(path: string): FlowFile[] {
  const files: FlowFile[] = [];
  const problems: FileProblem[] = [];
  for (const file of filesOf(path)) {
    const reading = readFlowFile(flag, file);
    if (reading.kind === 'problems') problems.push(...reading.problems);
    else files.push(reading.file);
  }
  for (const { path: file, flow } of files) {
    const first = files.find((each) => each.flow.name === flow.name);
    if (first?.path === file) continue;
    const message = `the flow ${flow.name} is in ${first?.path} too`;
    problems.push({ file, line: 0, column: 0, path: 'flow', message });
  }
  if (problems.length === 0) return files;
  throw new CommandFailure(exitCodes.usage, `${flag}: nothing was started\n${problems.map(printProblem).join('\n')}`);
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith(suffix));
    if (names.length === 0) throw usageFailure(`${flag}: there is no *${suffix} in ${path}`);
    if (names.length > maxFiles) {
      throw usageFailure(`${flag}: ${path} has ${names.length} flows, at most ${maxFiles} are allowed`);
    }
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw fileFailure(flag, path, error);
  }
}
