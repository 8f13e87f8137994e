// The module directory from configuration: which module is served at which addresses.

import { readSettings, type Setting, type SettingsReading } from '../../platform/settings/settings.ts';
import { type Address, readAddress } from './address.ts';

export interface ModuleSetting {
  /** As steps name it in `call`. */
  readonly name: string;
  readonly endpoints: readonly Address[];
  /** Calls in flight at each endpoint. */
  readonly concurrency: number;
}

/** Enough to keep an endpoint of a few cores busy; a module that wants fewer says so. */
const defaultConcurrency = 64;
const maxConcurrency = 10_000;
const maxModules = 1_000;
const maxEndpoints = 256;
const maxTextBytes = 1024 * 1024;
const maxNameLength = 128;

/**
 * Reads a directory of modules, as YAML or JSON:
 *
 *     modules:
 *       mail.parse: { endpoints: ['127.0.0.1:27101'], concurrency: 32 }
 *
 * `concurrency`: calls in flight per endpoint, 1 to 10,000, default 64.
 */
export function readModules(text: string): SettingsReading<readonly ModuleSetting[]> {
  return readSettings(text, { maxBytes: maxTextBytes }, (root) => {
    const section = root.section(['modules']);
    if (section && !section.modules) root.problem('modules is absent; allowed is a map from module names to endpoints');
    const entries = section?.modules?.entries() ?? [];
    if (entries.length > maxModules) {
      section?.modules?.problem(`${entries.length} modules, at most ${maxModules} are allowed`);
      return [];
    }
    return entries.map(([name, setting]) => readModule(name, setting)).filter((module) => module !== undefined);
  });
}

function readModule(name: string, setting: Setting): ModuleSetting | undefined {
  if (!/^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/.test(name) || name.length > maxNameLength) {
    setting.problem(
      `name ${JSON.stringify(name.slice(0, maxNameLength))} is not allowed; allowed are words of a-z, 0-9, - and _ ` +
        `that begin with a letter, joined by dots, up to ${maxNameLength} characters`,
    );
  }
  const section = setting.section(['endpoints', 'concurrency']);
  if (!section) return undefined;
  if (!section.endpoints) setting.problem('endpoints is absent; allowed is a list of addresses');
  const endpoints = readEndpoints(section.endpoints);
  const concurrency = section.concurrency
    ? section.concurrency.wholeNumber({ min: 1, max: maxConcurrency })
    : defaultConcurrency;
  return concurrency === undefined ? undefined : { name, endpoints, concurrency };
}

function readEndpoints(setting: Setting | undefined): readonly Address[] {
  const addresses = new Map<string, Address>();
  for (const item of setting?.list({ minItems: 1, maxItems: maxEndpoints }) ?? []) {
    const text = item.text();
    if (text === undefined) continue;
    const reading = readAddress(text);
    if (!reading.ok) item.problem(reading.problem);
    else if (addresses.has(reading.address.text)) item.problem(`${reading.address.text} is there twice`);
    else addresses.set(reading.address.text, reading.address);
  }
  return [...addresses.values()];
}
