import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `weir` to its end. `address` is the engine's, `input` what it reads. */
export function weir(address: string, words: readonly string[], input = ''): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1', WEIR_ADDRESS: address };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
    // A command that doesn't read its input may have ended before it is written.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** The lines of JSON that a command printed. */
export function json(ended: Ended): unknown[] {
  return ended.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}
