/** How a module makes itself known to engines. All are checked by the engine too, which says what it allows. */
export interface RegisterOptions {
  /**
   * `host:port` of engines; one of them is enough, the others are for when it stops. Default: the environment variable WEIR_ENGINES,
   * separated by commas.
   */
  readonly engines?: readonly string[];
  /**
   * `IP:port` at which engines reach this module, where that isn't what it listens on. Default: the bound address; one that stands for all
   * interfaces is left to the engine, which takes the IP that it is asked from.
   */
  readonly address?: string;
  /** Share of calls beside other endpoints of this module, 1 to 100; default 1. */
  readonly weight?: number;
  /** Of this program, for people: up to 64 characters. Default: none. */
  readonly version?: string;
  /**
   * Data centre or cloud, up to 64 characters: engines prefer endpoints of their own. Default: the environment variable WEIR_UNIT, else
   * none.
   */
  readonly unit?: string;
  /** For people: up to 16, names up to 64, values up to 256 characters. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Gets what keeps the module from being registered, each once until it changes; default: one line on stderr. */
  readonly onProblem?: (message: string) => void;
}

export interface CheckedRegister {
  readonly engines: readonly string[];
  /** Undefined: the bound one. */
  readonly address: string | undefined;
  readonly weight: number;
  readonly version: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
}

const maxEngines = 100;
const maxWeight = 100;

/**
 * Puts defaults in; undefined when the module isn't to be registered. Throws a TypeError that names the option, what was found and what is
 * allowed.
 */
export function checkRegister(register: RegisterOptions | false | undefined): CheckedRegister | undefined {
  if (register === false || (register === undefined && enginesOfEnvironment().length === 0)) return undefined;
  const options = register ?? {};
  const engines = options.engines ?? enginesOfEnvironment();
  if (engines.length === 0 || engines.length > maxEngines) {
    throw refused('engines', `${engines.length} addresses`, `1 to ${maxEngines}, here or in WEIR_ENGINES`);
  }
  for (const [index, engine] of engines.entries()) {
    if (!/^(?:\[[0-9A-Fa-f:.]+\]|[^\s:[\]/]+):[0-9]{1,5}$/.test(engine)) {
      throw refused(`engines[${index}]`, JSON.stringify(engine), 'host:port');
    }
  }
  const { weight = 1, version = '', unit = process.env.WEIR_UNIT ?? '', labels = {} } = options;
  if (!Number.isSafeInteger(weight) || weight < 1 || weight > maxWeight) {
    throw refused('weight', String(weight), `a whole number from 1 to ${maxWeight}`);
  }
  return { engines, address: options.address, weight, version, unit, labels };
}

function enginesOfEnvironment(): readonly string[] {
  return (process.env.WEIR_ENGINES ?? '').split(',').flatMap((engine) => engine.trim() || []);
}

/** Where engines reach what listens on `bound`. What stands for all interfaces, or may mean several addresses, is left to the engine. */
export function advertised(bound: string): string {
  const host = bound.slice(0, bound.lastIndexOf(':'));
  const isOneAddress = /^(?:[0-9.]+|\[[0-9A-Fa-f:.]+\])$/.test(host) && !/^(?:0\.0\.0\.0|\[[0:]+\])$/.test(host);
  return isOneAddress ? bound : bound.slice(bound.lastIndexOf(':'));
}

function refused(option: string, found: string, allowed: string): TypeError {
  return new TypeError(`register.${option} is ${found}, allowed is ${allowed}`);
}
