// The module directory from configuration: which modules there are, and where their endpoints come from.

import { readSettings, type Setting, type SettingsReading } from '../../platform/settings/settings.ts';
import { type Address, readAddress } from './address.ts';
import { defaultNetworks, maxNetworks, neverCalled, readNetwork } from './allowed-addresses.ts';
import { type DnsName, readDnsName } from './dns-name.ts';
import { defaultConcurrency, maxConcurrency, maxEndpoints } from './endpoint-setting.ts';
import { isModuleName, isNamePattern, maxNameLength, nameRule } from './module-name.ts';

export interface ModuleSetting {
  /** As steps name it in `call`. */
  readonly name: string;
  /** Those that are listed. */
  readonly endpoints: readonly Address[];
  /** Calls in flight at each endpoint that doesn't say its own number. */
  readonly concurrency: number;
  /** All addresses of this name are endpoints too. */
  readonly dns?: DnsName;
  /** Endpoints may register. Absent: as `DirectorySetting.register` says. */
  readonly register?: boolean;
}

export interface DirectorySetting {
  readonly modules: readonly ModuleSetting[];
  /** Modules that may register and don't say so themselves: names, and `text.*` for all that begin with `text.` */
  readonly register: readonly string[];
  /** Networks in which addresses lie that were registered or come from the DNS, as `readNetwork` answers them. */
  readonly networks: readonly string[];
}

const maxModules = 1_000;
const maxPatterns = 100;
const maxTextBytes = 1024 * 1024;

/**
 * Reads a directory of modules, as YAML or JSON:
 *
 *     modules:
 *       mail.parse: { endpoints: ['127.0.0.1:27101'], concurrency: 32 }
 *       mail.score: { dns: 'score.mail.internal:27103' }
 *       mail.place: { register: true }
 *     register: ['text.*']
 *     addresses: ['10.20.0.0/16']
 *
 * `concurrency`: calls in flight per endpoint, 1 to 10,000, default 64. `register`: none by default. `addresses`: this machine and
 * private networks by default.
 */
export function readDirectory(text: string): SettingsReading<DirectorySetting> {
  return readSettings(text, { maxBytes: maxTextBytes }, (root) => {
    const section = root.section(directoryKeys);
    if (section && !section.modules && !section.register) {
      root.problem('modules is absent; allowed is a map from module names to endpoints');
    }
    return readDirectorySettings(section ?? {});
  });
}

/** The keys of a directory, where they stand among others. */
export const directoryKeys = ['modules', 'register', 'addresses'] as const;

/** What `readDirectory` reads, from the values of the keys. */
export function readDirectorySettings(
  section: Partial<Record<(typeof directoryKeys)[number], Setting>>,
): DirectorySetting {
  return {
    modules: section.modules ? readModuleSettings(section.modules) : [],
    register: readPatterns(section.register),
    networks: section.addresses ? readNetworks(section.addresses) : defaultNetworks,
  };
}

/** The modules alone of what `readDirectory` reads: for callers that call listed endpoints only. */
export function readModules(text: string): SettingsReading<readonly ModuleSetting[]> {
  const reading = readDirectory(text);
  return reading.ok ? { ok: true, value: reading.value.modules } : reading;
}

/** The value of the key `modules` alone. */
function readModuleSettings(setting: Setting): readonly ModuleSetting[] {
  const entries = setting.entries() ?? [];
  if (entries.length > maxModules) {
    setting.problem(`${entries.length} modules, at most ${maxModules} are allowed`);
    return [];
  }
  return entries.map(([name, module]) => readModule(name, module)).filter((module) => module !== undefined);
}

function readModule(name: string, setting: Setting): ModuleSetting | undefined {
  if (!isModuleName(name)) {
    setting.problem(`name ${JSON.stringify(name.slice(0, maxNameLength))} is not allowed; allowed are ${nameRule}`);
  }
  const section = setting.section(['endpoints', 'dns', 'register', 'concurrency']);
  if (!section) return undefined;
  const register = section.register?.boolean();
  if (!section.endpoints && !section.dns && (!section.register || register === false)) {
    setting.problem(
      'has no endpoints; allowed are a list `endpoints`, a name `dns`, `register: true`, or several of them',
    );
  }
  const endpoints = readEndpoints(section.endpoints);
  const dns = section.dns && readDns(section.dns);
  const concurrency = section.concurrency
    ? section.concurrency.wholeNumber({ min: 1, max: maxConcurrency })
    : defaultConcurrency;
  if (concurrency === undefined) return undefined;
  return { name, endpoints, concurrency, ...(dns && { dns }), ...(register === undefined ? {} : { register }) };
}

function readEndpoints(setting: Setting | undefined): readonly Address[] {
  const addresses = new Map<string, Address>();
  for (const item of setting?.list({ minItems: 1, maxItems: maxEndpoints }) ?? []) {
    const text = item.text();
    if (text === undefined) continue;
    const reading = readAddress(text);
    const never = reading.ok ? neverCalled(reading.address) : undefined;
    if (!reading.ok) item.problem(reading.problem);
    else if (never !== undefined) item.problem(never);
    else if (addresses.has(reading.address.text)) item.problem(`${reading.address.text} is there twice`);
    else addresses.set(reading.address.text, reading.address);
  }
  return [...addresses.values()];
}

function readDns(setting: Setting): DnsName | undefined {
  const text = setting.text();
  if (text === undefined) return undefined;
  const reading = readDnsName(text);
  if (reading.ok) return reading.name;
  setting.problem(reading.problem);
  return undefined;
}

function readPatterns(setting: Setting | undefined): readonly string[] {
  const patterns = (setting?.list({ minItems: 0, maxItems: maxPatterns }) ?? []).map((item) => {
    const text = item.text();
    if (text === undefined || isNamePattern(text)) return text;
    const found = JSON.stringify(text.slice(0, maxNameLength));
    item.problem(`${found} is not allowed; allowed are names of modules, and text.* for all that begin with text.`);
    return undefined;
  });
  return patterns.filter((pattern) => pattern !== undefined);
}

function readNetworks(setting: Setting): readonly string[] {
  const networks = (setting.list({ minItems: 1, maxItems: maxNetworks }) ?? []).map((item) => {
    const text = item.text();
    const reading = text === undefined ? undefined : readNetwork(text);
    if (reading?.ok === false) item.problem(reading.problem);
    return reading?.ok ? reading.network : undefined;
  });
  return networks.filter((network) => network !== undefined);
}
