import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { install, installedFolder } from './installation.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-install-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const say = () => {};
const partialFolders = () => readdirSync(join(root, 'installed')).filter((name) => name.includes('.partial-'));

describe('install', () => {
  it('gives a folder its name when it is complete', async () => {
    const installation = {
      name: 'program-1',
      async fill(folder: string) {
        expect(existsSync(installedFolder(root, 'program-1'))).toBe(false);
        writeFileSync(join(folder, 'program'), 'content');
      },
    };
    const folder = await install(root, installation, say);
    expect(readFileSync(join(folder, 'program'), 'utf8')).toBe('content');
  });

  it('fills once for two who ask at the same time', async () => {
    let fills = 0;
    const installation = { name: 'program-1', fill: async () => void (fills += 1) };
    await Promise.all([install(root, installation, say), install(root, installation, say)]);
    await install(root, installation, say);
    expect(fills).toBe(1);
  });

  it('leaves nothing of one that fails, and of one that was killed', async () => {
    mkdirSync(join(root, 'installed', 'program-1.partial-killed'), { recursive: true });
    const failing = { name: 'program-1', fill: () => Promise.reject(new Error('no network')) };
    await expect(install(root, failing, say)).rejects.toThrow('no network');
    expect(partialFolders()).toEqual([]);
    expect(existsSync(installedFolder(root, 'program-1'))).toBe(false);
  });
});
