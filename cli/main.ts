#!/usr/bin/env node
// The `weir` command. Only this file and `weir up` end the process.

import { CommanderError } from 'commander';
import { CommandFailure, exitCodes } from './failure.ts';
import { createProgram } from './program.ts';

// `weir run list | head` closes the pipe when it has seen enough: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  throw error;
});

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  // Commander has printed what was wrong, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof CommandFailure) {
    console.error(`weir: ${error.message}`);
    return error.exitCode;
  }
  console.error(error);
  return exitCodes.failed;
}
