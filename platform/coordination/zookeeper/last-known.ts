// What was last read of the configuration, for the time when ZooKeeper can't be reached: in memory, and in files so that a process that
// starts then has it too.
//
// Ownership: one process writes to the folder; the files are its own, and nothing is lost when they are.
//
// Invariants:
//   F1  A file is written beside and renamed, and checked when it is read: a torn one is as good as none.
//   F2  Of one key the newest value wins: files are written one after the other, in the order of `keep`.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const limits = {
  /** Bytes kept in memory: what was used least recently is dropped, and read from its file when it is wanted. */
  maxMemoryBytes: 64 * 1024 * 1024,
  /** Files kept: the oldest go when a process starts. */
  maxFiles: 20_000,
} as const;

export interface LastKnownOptions {
  /** Created when it isn't there; absent: only in memory. */
  readonly folder?: string;
  readonly onProblem: (problem: string) => void;
}

export class LastKnown {
  readonly #folder: string | undefined;
  readonly #onProblem: (problem: string) => void;
  readonly #memory = new Map<string, Uint8Array>();
  #memoryBytes = 0;
  /** Files to be written; a key that is kept again before its turn is written once. */
  readonly #unwritten = new Map<string, Uint8Array>();
  #writing: Promise<void> | undefined;

  constructor({ folder, onProblem }: LastKnownOptions) {
    this.#folder = folder;
    this.#onProblem = onProblem;
    if (folder !== undefined) this.#writing = this.#open(folder).finally(() => this.#wrote());
  }

  keep(key: string, value: Uint8Array): void {
    this.#remember(key, value);
    if (this.#folder === undefined) return;
    this.#unwritten.set(key, value);
    this.#writing ??= this.#write(this.#folder).finally(() => this.#wrote());
  }

  async find(key: string): Promise<Uint8Array | undefined> {
    const known = this.#memory.get(key) ?? this.#unwritten.get(key);
    if (known) {
      this.#remember(key, known);
      return known;
    }
    if (this.#folder === undefined) return undefined;
    const value = await this.#readFile(this.#folder, key);
    // Another value may have been kept meanwhile.
    const newer = this.#memory.get(key);
    if (value && !newer) this.#remember(key, value);
    return newer ?? value;
  }

  /** Resolves when all is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  #remember(key: string, value: Uint8Array): void {
    this.#memoryBytes += value.length - (this.#memory.get(key)?.length ?? 0);
    this.#memory.delete(key);
    this.#memory.set(key, value);
    for (const [oldest, { length }] of this.#memory) {
      if (this.#memoryBytes <= limits.maxMemoryBytes) break;
      this.#memory.delete(oldest);
      this.#memoryBytes -= length;
    }
  }

  async #open(folder: string): Promise<void> {
    try {
      await mkdir(folder, { recursive: true });
      const files = await readdir(folder);
      if (files.length <= limits.maxFiles) return;
      const aged = await Promise.all(
        files.map(async (file) => ({ file, atMs: (await stat(join(folder, file))).mtimeMs })),
      );
      aged.sort((one, other) => one.atMs - other.atMs);
      for (const { file } of aged.slice(0, files.length - limits.maxFiles)) await unlink(join(folder, file));
    } catch (error) {
      this.#failed(error);
    }
  }

  async #write(folder: string): Promise<void> {
    for (const [key, value] of this.#unwritten) {
      this.#unwritten.delete(key);
      const file = join(folder, fileOf(key));
      const head = `${JSON.stringify({ key, sha256: hashOf(value) })}\n`;
      try {
        await writeFile(`${file}.new`, Buffer.concat([Buffer.from(head), value]));
        await rename(`${file}.new`, file);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #wrote(): void {
    this.#writing = undefined;
    const folder = this.#folder;
    if (folder !== undefined && this.#unwritten.size > 0) {
      this.#writing = this.#write(folder).finally(() => this.#wrote());
    }
  }

  async #readFile(folder: string, key: string): Promise<Uint8Array | undefined> {
    let data: Buffer;
    try {
      data = await readFile(join(folder, fileOf(key)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#failed(error);
      return undefined;
    }
    const end = data.indexOf('\n');
    const value = new Uint8Array(data.subarray(end + 1));
    const head = JSON.stringify({ key, sha256: hashOf(value) });
    if (data.subarray(0, Math.max(end, 0)).toString() === head) return value;
    this.#onProblem(`${join(folder, fileOf(key))} is damaged and not used`);
    return undefined;
  }

  #failed(error: unknown): void {
    this.#onProblem(
      `the folder of what was last known can't be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function fileOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function hashOf(value: Uint8Array): string {
  return createHash('sha256').update(value).digest('hex');
}
