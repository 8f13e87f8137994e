// The configuration file of a cluster: one for all roles of a unit. Each value may be overridden by a variable of the environment,
// WEIR_ and its path in capitals: WEIR_ZOOKEEPER_SERVERS, WEIR_DISPATCH_MAX_RUNS.

import { directoryKeys, readDirectorySettings } from '../../dispatch/modules/configuration.ts';
import { dispatchDefaults } from '../../dispatch/settings.ts';
import { readSettings, type Setting, type SettingsProblem } from '../../platform/settings/settings.ts';
import { spoutDefaults } from '../../spout/settings.ts';
import { isPlainName, plainNameRule } from '../plain-name.ts';
import type { ClusterSettings } from './cluster-settings.ts';
import { findContradictions, type Places } from './contradictions.ts';
import { readSecret } from './secret.ts';
import { address, addresses, addressProblem, textOf, type ValueKind, wholeNumber } from './value-kind.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type ClusterReading =
  | { readonly ok: true; readonly settings: ClusterSettings }
  | { readonly ok: false; readonly problems: readonly SettingsProblem[] };

const maxTextBytes = 1_048_576;
const name = textOf(isPlainName, plainNameRule);
const path = textOf((text) => /^\S.{0,4000}$/.test(text), 'a path');

/** Reads a cluster file. Every problem is told, each with its place; a variable's by its name. */
export function readClusterFile(text: string, environment: Environment): ClusterReading {
  const ofVariables: SettingsProblem[] = [];
  const reading = readSettings(text, { maxBytes: maxTextBytes }, (root) => {
    const reader = new Reader(environment, ofVariables);
    const settings = reader.cluster(root);
    for (const { at, message } of findContradictions(settings, reader.places)) {
      if (at.setting) at.setting.problem(message);
      else ofVariables.push({ path: at.place, message, line: 0, column: 0 });
    }
    return settings;
  });
  if (!reading.ok) return { ok: false, problems: [...reading.problems, ...ofVariables] };
  return ofVariables.length > 0 ? { ok: false, problems: ofVariables } : { ok: true, settings: reading.value };
}

const sections = ['unit', 'cache', 'zookeeper', 'redis', 'hbase', 'dispatch', 'spout', ...directoryKeys] as const;

class Reader {
  readonly places: Places = new Map();
  readonly #environment: Environment;
  readonly #problems: SettingsProblem[];

  constructor(environment: Environment, problems: SettingsProblem[]) {
    this.#environment = environment;
    this.#problems = problems;
  }

  cluster(root: Setting): ClusterSettings {
    const all = root.section(sections) ?? {};
    const unit = this.#value('unit', all.unit, name, '');
    const cache = this.#value('cache', all.cache, path, './weir-cache');
    const zookeeper = this.#zookeeper(
      this.#section(root, 'zookeeper', all.zookeeper, ['servers', 'root', 'session_ms']),
    );
    const redis = this.#redis(this.#section(root, 'redis', all.redis, ['servers', 'user', 'password']));
    const hbase = this.#hbase(this.#section(root, 'hbase', all.hbase, ['servers', 'table', 'via']));
    const dispatch = this.#dispatch(
      all.dispatch?.section(['address', 'advertise', 'max_runs', 'lock_ttl_ms', 'drain_ms']) ?? {},
    );
    const spout = this.#spout(all.spout?.section(['address', 'weight', 'grace_ms']) ?? {});
    const directory = readDirectorySettings(all);
    return { unit, cache, zookeeper, redis, hbase, dispatch, spout, directory };
  }

  #zookeeper({ servers, root, session_ms }: Section): ClusterSettings['zookeeper'] {
    const node = textOf((text) => /^(\/[A-Za-z0-9._-]+)+$/.test(text), 'a path of names, as in /weir');
    return {
      servers: this.#value('zookeeper.servers', servers, addresses(15), undefined),
      root: this.#value('zookeeper.root', root, node, '/weir'),
      sessionMs: this.#value('zookeeper.session_ms', session_ms, wholeNumber(1_000, 60_000), 6_000),
    };
  }

  #redis({ servers, user, password }: Section): ClusterSettings['redis'] {
    const found = this.#value('redis.servers', servers, addresses(9), undefined);
    if (found.length % 2 === 0 && found.length > 0) {
      this.#problem('redis.servers', `${found.length} servers; allowed is one, or an odd number of independent ones`);
    }
    const account = this.#value('redis.user', user, name, '');
    const secret = password && readSecret(password, this.#environment);
    return {
      servers: found,
      ...(account !== '' && { user: account }),
      ...(secret !== undefined && { password: secret }),
    };
  }

  #hbase({ servers, table, via }: Section): ClusterSettings['hbase'] {
    return {
      servers: this.#value('hbase.servers', servers, addresses(64), undefined),
      table: this.#value('hbase.table', table, name, 'weir'),
      via: readVia(via),
    };
  }

  #dispatch(section: Section): ClusterSettings['dispatch'] {
    const { advertise } = section;
    const public_ = this.#value('dispatch.advertise', advertise, address(1), '');
    return {
      address: this.#value('dispatch.address', section['address'], address(0), '127.0.0.1:27100'),
      ...(public_ !== '' && { advertise: public_ }),
      maxRuns: this.#value('dispatch.max_runs', section['max_runs'], wholeNumber(1, 100_000), dispatchDefaults.maxRuns),
      lockTtlMs: this.#value(
        'dispatch.lock_ttl_ms',
        section['lock_ttl_ms'],
        wholeNumber(100, 3_600_000),
        dispatchDefaults.lockTtlMs,
      ),
      drainMs: this.#value(
        'dispatch.drain_ms',
        section['drain_ms'],
        wholeNumber(0, 3_600_000),
        dispatchDefaults.drainMs,
      ),
    };
  }

  #spout({ address: at, weight, grace_ms }: Section): ClusterSettings['spout'] {
    return {
      address: this.#value('spout.address', at, address(0), '127.0.0.1:0'),
      weight: this.#value('spout.weight', weight, wholeNumber(1, 100), 1),
      graceMs: this.#value('spout.grace_ms', grace_ms, wholeNumber(1, 3_600_000), spoutDefaults.graceMs),
    };
  }

  #section(root: Setting, key: string, setting: Setting | undefined, keys: readonly string[]): Section {
    this.places.set(key, { place: setting?.place ?? key, setting: setting ?? root });
    return setting?.section(keys) ?? {};
  }

  /** What the environment says, else the file, else `fallback`; without one it must be given. */
  #value<T extends number | string | readonly string[]>(
    at: string,
    setting: Setting | undefined,
    kind: ValueKind<T>,
    fallback: T | undefined,
  ): T {
    const variable = `WEIR_${at.replaceAll('.', '_').toUpperCase()}`;
    const text = this.#environment[variable];
    const absent = (fallback ?? ([] as readonly string[])) as T;
    if (text !== undefined && text !== '') {
      this.places.set(at, { place: variable, setting: undefined });
      const reading = readSettings(kind.yaml(text), { maxBytes: maxTextBytes }, kind.read);
      if (reading.ok) return reading.value ?? absent;
      for (const { path: within, message } of reading.problems) {
        this.#problems.push({ path: `${variable}${within}`, message, line: 0, column: 0 });
      }
      return absent;
    }
    this.places.set(at, { place: setting?.place ?? `${at} (default)`, setting });
    if (setting) return kind.read(setting) ?? absent;
    if (fallback === undefined) {
      const section = this.places.get(at.slice(0, at.indexOf('.')))?.setting;
      section?.problem(`${at} is absent; give it here or as ${variable}`);
    }
    return absent;
  }

  #problem(at: string, message: string): void {
    const found = this.places.get(at);
    if (found?.setting) found.setting.problem(message);
    else this.#problems.push({ path: found?.place ?? at, message, line: 0, column: 0 });
  }
}

/** A map of addresses; not in the environment. */
function readVia(setting: Setting | undefined): ReadonlyMap<string, string> {
  const via = new Map<string, string>();
  const one = address(1);
  for (const [said, reached] of setting?.entries() ?? []) {
    const problem = addressProblem(said, 1);
    if (problem !== undefined) reached.problem(`key ${problem}`);
    const at = one.read(reached);
    if (at !== undefined) via.set(said, at);
  }
  return via;
}

type Section = Readonly<Record<string, Setting | undefined>>;
