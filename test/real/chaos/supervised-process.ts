// A process that is kept running: however it ends, it is started again at once.
//
// Owns the child and the record of how its lives ended.
//
// Invariants:
//   V1  At most one child at a time. The next starts when the last one is reaped, so its ports and locks are free.
//   V2  A life ended by `kill`, by the child's own announced doing, or for no reason that anybody knows: exactly one of them.
//   V3  After `stop` or `abandon` none is started.

import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Orphans } from './orphans.ts';

export type Role = 'engine' | 'dispatch' | 'spout' | 'module';

export interface ProcessOptions {
  readonly name: string;
  readonly role: Role;
  /** Script and arguments, for Node; asked for each life. */
  readonly commandLine: (life: number) => readonly string[];
  /** What the environment has besides, for each life. */
  readonly environment: (life: number) => NodeJS.ProcessEnv;
  readonly orphans: Orphans;
  /** How long a process stays stopped that has stopped itself. */
  readonly pauseMs: number;
  /** It has ended, or stopped itself, as it had announced: `fail point after-commit`. */
  readonly announced: (what: string) => void;
  /** Lines that it writes on standard error. */
  readonly said?: (line: string) => void;
  /** It has ended and nobody knows why. */
  readonly unexplained: (message: string) => void;
}

/** What a process says on standard error before it signals itself. */
const announcement = /^(fail point \S+|poison): (SIGKILL|SIGSTOP)$/m;

/** Characters of what it said on standard error that a message quotes. */
const maxQuoted = 2_000;

/** How long it gets to end by itself, in ms: longer than an engine drains. */
const stopTimeoutMs = 30_000;

export class SupervisedProcess {
  readonly name: string;
  readonly role: Role;
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #lives = 0;
  #up = Promise.withResolvers<void>();
  #isUp = false;
  #gone = Promise.withResolvers<void>();
  #killing = false;
  #ending: 'no' | 'kindly' | 'at once' = 'no';
  #restarting = false;
  #announcedDeath = false;
  #errors = '';

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.name = options.name;
    this.role = options.role;
  }

  /** Begins the first life. */
  start(): void {
    const { commandLine, environment, orphans } = this.#options;
    const life = ++this.#lives;
    this.#errors = '';
    this.#killing = false;
    this.#announcedDeath = false;
    this.#gone = Promise.withResolvers();
    const child = spawn(process.execPath, [...commandLine(life)], {
      env: { ...process.env, ...environment(life) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    const { pid } = child;
    if (pid === undefined) throw new Error(`${this.name} can't be started`);
    orphans.born(pid);
    child.stdout?.once('data', () => {
      this.#isUp = true;
      this.#up.resolve();
    });
    child.stderr?.on('data', (chunk: Buffer) => this.#said(child, chunk.toString()));
    // Not `exit`: what it said last may still be on its way then.
    child.once('close', (code, signal) => {
      orphans.gone(pid);
      this.#ended(code, signal);
    });
  }

  /** Resolves when it has said that it is ready, in this life or the one that is beginning. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  /** SIGKILL, once it is up. Answers whether it was that which ended it. */
  async kill(): Promise<boolean> {
    await this.up;
    if (this.#ending !== 'no' || !this.#isUp) return false;
    this.#killing = true;
    const gone = this.#gone.promise;
    this.#child?.kill('SIGKILL');
    await gone;
    return !this.#announcedDeath;
  }

  /** SIGSTOP, and SIGCONT after that time unless it was killed meanwhile. */
  async pause(durationMs: number): Promise<void> {
    await this.up;
    const child = this.#child;
    child?.kill('SIGSTOP');
    await pause(durationMs);
    child?.kill('SIGCONT');
  }

  /** Asks it to end, once it is up; resolves when its next life is up. */
  async restart(): Promise<void> {
    await this.up;
    if (this.#ending !== 'no') return;
    this.#restarting = true;
    const gone = this.#gone.promise;
    const timer = setTimeout(() => {
      this.#killing = true;
      this.#child?.kill('SIGKILL');
    }, stopTimeoutMs);
    this.#child?.kill('SIGTERM');
    await gone;
    clearTimeout(timer);
    await this.up;
  }

  /** Asks it to end, once it is up, and starts it no more. That it does so with code 0 is expected of it. */
  async stop(): Promise<void> {
    await this.up;
    this.#ending = 'kindly';
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), stopTimeoutMs);
    this.#child?.kill('SIGTERM');
    await this.#gone.promise;
    clearTimeout(timer);
  }

  /** SIGKILL whatever it does, and starts it no more. */
  async abandon(): Promise<void> {
    this.#ending = 'at once';
    this.#child?.kill('SIGKILL');
    await this.#gone.promise;
  }

  #said(child: ChildProcess, text: string): void {
    this.#errors = (this.#errors + text).slice(-maxQuoted);
    for (const line of this.#options.said ? text.split('\n') : []) this.#options.said?.(line);
    const [, what = '', signal] = announcement.exec(text) ?? [];
    if (signal === 'SIGKILL') this.#announcedDeath = true;
    if (signal !== 'SIGSTOP') return;
    this.#options.announced(what);
    void pause(this.#options.pauseMs).then(() => child.kill('SIGCONT'));
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const { announced, unexplained } = this.#options;
    this.#gone.resolve();
    if (this.#isUp) this.#up = Promise.withResolvers();
    this.#isUp = false;
    const [, what = ''] = announcement.exec(this.#errors) ?? [];
    const wasAsked = this.#restarting || this.#ending === 'kindly';
    const expected = this.#killing || this.#ending === 'at once' || (wasAsked && code === 0);
    this.#restarting = false;
    if (this.#announcedDeath && signal === 'SIGKILL') announced(what);
    else if (!expected) unexplained(`${this.name} ended with ${signal ?? `code ${code}`}: ${this.#errors}`);
    if (this.#ending === 'no') this.start();
  }
}
