// Secrets are written by reference: a configuration file is copied, committed and shown around.

import { readFileSync } from 'node:fs';
import type { Setting } from '../../platform/settings/settings.ts';

const maxSecretBytes = 4_096;
const allowed = 'allowed is { env: NAME } or { file: PATH }';

/** The secret that a setting refers to; undefined when there is none to be had, which is noted without showing anything of it. */
export function readSecret(
  setting: Setting,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (setting.isScalar) {
    setting.problem(`a secret is not written here; ${allowed}`);
    return undefined;
  }
  const section = setting.section(['env', 'file']);
  if (!section) return undefined;
  const { env, file } = section;
  if ((env === undefined) === (file === undefined)) {
    setting.problem(`${env ? 'both env and file are' : 'neither env nor file is'} given; ${allowed}`);
    return undefined;
  }
  return env ? fromEnvironment(env, environment) : file && fromFile(file);
}

function fromEnvironment(
  setting: Setting,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const name = setting.text();
  if (name === undefined) return undefined;
  const secret = environment[name];
  if (!secret) setting.problem(`the variable ${JSON.stringify(name.slice(0, 100))} is not set`);
  return secret || undefined;
}

function fromFile(setting: Setting): string | undefined {
  const path = setting.text();
  if (path === undefined) return undefined;
  try {
    const secret = readFileSync(path, 'utf8').trim();
    if (secret !== '' && Buffer.byteLength(secret) <= maxSecretBytes) return secret;
    setting.problem(`${path} ${secret === '' ? 'is empty' : `has more than ${maxSecretBytes} bytes`}`);
  } catch (error) {
    setting.problem(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}
