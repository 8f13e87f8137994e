import { spawn } from 'node:child_process';
import { ServiceFailure } from './failure.ts';

export interface ProgramOptions {
  readonly cwd?: string;
  /** What to install when the program is missing, for the message: `Debian: apt-get install maven`. */
  readonly remedy: string;
  /** Default 10 minutes: a download over a slow line ends within it, one that hangs does not hang the caller. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10 * 60_000;
const maxOutputLength = 1024 * 1024;
const shownLines = 15;

/** Runs a program to its end and returns what it printed. Throws ServiceFailure when it is missing, hangs or fails. */
export async function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const child = spawn(program, args, {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Not spawn's own `timeout`: its timer outlives a program that could not be started.
    signal: AbortSignal.timeout(timeoutMs),
    killSignal: 'SIGKILL',
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-maxOutputLength);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const end = await new Promise<string>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') reject(new ServiceFailure(`${program} is missing (${options.remedy})`));
      else if (error.name === 'AbortError') resolve(`no end within ${timeoutMs / 1000} s`);
      else reject(error);
    });
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  if (end === 'exit code 0') return output;
  const shown = output.trimEnd().split('\n').slice(-shownLines).join('\n  ');
  throw new ServiceFailure(`${program} ${args.join(' ')}: ${end}\n  ${shown}`);
}
