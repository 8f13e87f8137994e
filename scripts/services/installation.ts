// Installed programs: `.services/installed/<name>-<version>/`. A folder with its final name is complete, because it gets
// that name last; two who install the same thing wait for each other.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { underLock } from './file-lock.ts';
import { runProgram } from './run-program.ts';

export interface Installation {
  /** Folder name below `.services/installed`: program and version. */
  readonly name: string;
  /** Puts everything into an empty folder. */
  fill(folder: string): Promise<void>;
}

/** Tells people what takes a while. */
export type Say = (line: string) => void;

export function installedFolder(root: string, name: string): string {
  return join(root, 'installed', name);
}

/** Returns the folder of an installation, after installing it where it is missing. */
export async function install(root: string, installation: Installation, say: Say): Promise<string> {
  const folder = installedFolder(root, installation.name);
  if (existsSync(folder)) return folder;
  await underLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    say(`installing ${installation.name}`);
    removePartial(folder);
    const partial = mkdtempSync(`${folder}.partial-`);
    try {
      await installation.fill(partial);
      renameSync(partial, folder);
    } finally {
      rmSync(partial, { recursive: true, force: true });
    }
  });
  return folder;
}

/** For messages. */
export const javaRemedy = 'Debian: apt-get install default-jre-headless; Java 17 or newer';

/** Fills a folder with the jars that a pom.xml asks for, their dependencies included. */
export async function copyMavenJars(pom: string, folder: string): Promise<void> {
  const remedy = 'Debian: apt-get install maven default-jdk-headless';
  const goal = [
    '--batch-mode',
    '--quiet',
    '--file',
    pom,
    'dependency:copy-dependencies',
    `-DoutputDirectory=${folder}`,
  ];
  await runProgram('mvn', [...goal, '-DincludeScope=runtime'], { cwd: folder, remedy });
}

// What an install that was killed left behind.
function removePartial(folder: string): void {
  const parent = join(folder, '..');
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (path.startsWith(`${folder}.partial-`)) rmSync(path, { recursive: true, force: true });
  }
}
