// The mails example as a whole: started as a user starts it, killed as a power cut kills it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

export class Example {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';
  #messages = '';

  constructor(data: string) {
    const script = join(root, 'examples/mail/start.ts');
    this.#child = spawn(process.execPath, [script, '--exit', '--json', '--data', data], {
      cwd: root,
      // Few runs at a time, so that the corpus lasts for all the kills.
      env: { ...process.env, WEIR_MAX_RUNS: '100' },
    });
    this.#exited = once(this.#child, 'exit');
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#messages += chunk.toString()));
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** SIGKILL: the engine and the modules kill themselves when this process is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Exit code, last line of its output, and what it told people. */
  async end(): Promise<{ code: number | null; result: string; messages: string }> {
    await this.#exited;
    return {
      code: this.#child.exitCode,
      result: this.#output.trim().split('\n').at(-1) ?? '',
      messages: this.#messages,
    };
  }
}
