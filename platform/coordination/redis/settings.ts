// Where Redis is and how long it is waited for.

/** One server. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly database: number;
  readonly user?: string;
  /** Never part of a log or of an error. */
  readonly password?: string;
}

export interface RedisSettings {
  /** What every key begins with. [weir:lock:] Clusters that share a Redis must differ in it. */
  readonly keyPrefix: string;
  /**
   * How long an answer is awaited, in ms. [1,000] A thousand times what Redis takes, longer than the pauses of a busy process of ours,
   * and far below the time to live of a lock.
   */
  readonly commandTimeoutMs: number;
  /** How long a connection may take to be made, in ms. [2,000] One lost packet is sent again after one second. */
  readonly connectTimeoutMs: number;
  /** First pause before a lost connection is made again, in ms. [50] Doubles with each failure in a row, with jitter. */
  readonly firstBackoffMs: number;
  /** The longest such pause, in ms. [2,000] How long claims go on without locks after Redis is back, at most. */
  readonly maxBackoffMs: number;
  /** After how long a server that was refused or still loads its data is looked at again, in ms. [5,000] A person has to mend the first. */
  readonly recheckMs: number;
  /** Locks in one call of a script. [256] Redis does nothing else meanwhile: about a quarter of a millisecond. */
  readonly maxBatch: number;
  /** Acquisitions that wait for an answer. [10,000] More than all claims of a process at once; beyond it the answer is `unavailable`. */
  readonly maxWaiting: number;
}

const redisDefaults: RedisSettings = {
  keyPrefix: 'weir:lock:',
  commandTimeoutMs: 1_000,
  connectTimeoutMs: 2_000,
  firstBackoffMs: 50,
  maxBackoffMs: 2_000,
  recheckMs: 5_000,
  maxBatch: 256,
  maxWaiting: 10_000,
};

const addressForm = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/;
const allowed = 'allowed is host:port, redis://[user:password@]host[:port][/database], or rediss:// for TLS';
const defaultPort = 6_379;
const maxDatabase = 65_535;

/** Reads `host:port` or a URL. Throws a RangeError that names what can't be, without the password. */
export function redisServer(text: string): RedisServer {
  const [, host = '', port = ''] = addressForm.exec(text) ?? [];
  if (host !== '') return { host: bare(host), port: portOf(port), tls: false, database: 0 };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '' || url.search || url.hash) {
    // The text may hold a password anywhere: none of it is shown.
    throw new RangeError(`not the address of a Redis server; ${allowed}`);
  }
  return {
    host: bare(url.hostname),
    port: url.port === '' ? defaultPort : portOf(url.port),
    tls: url.protocol === 'rediss:',
    database: databaseOf(url.pathname),
    ...(url.username !== '' && { user: decoded(url.username) }),
    ...(url.password !== '' && { password: decoded(url.password) }),
  };
}

/** For logs: `host:port`. */
export function shownServer({ host, port }: RedisServer): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Throws a RangeError that names the setting, what was found and what is allowed. */
export function redisSettings(given: Partial<RedisSettings>): RedisSettings {
  const settings = { ...redisDefaults, ...given };
  const { keyPrefix, ...numbers } = settings;
  if (!/^[\x21-\x7e]{1,100}$/.test(keyPrefix) || /[{}]/.test(keyPrefix)) {
    throw new RangeError(
      `keyPrefix: ${JSON.stringify(keyPrefix.slice(0, 110))}; allowed are 1 to 100 printable characters without space, { and }`,
    );
  }
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isInteger(value) || value < 1 || value > 1_000_000) {
      throw new RangeError(`${name}: ${value}; allowed is a whole number from 1 to 1000000`);
    }
  }
  return settings;
}

function bare(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function portOf(text: string): number {
  const port = Number(text);
  if (port < 1 || port > 65_535) throw new RangeError(`port ${text} of a Redis server; allowed is 1 to 65535`);
  return port;
}

function databaseOf(path: string): number {
  const database = /^\/\d{1,5}$/.test(path) ? Number(path.slice(1)) : path === '' || path === '/' ? 0 : Number.NaN;
  if (database <= maxDatabase) return database;
  throw new RangeError(
    `database ${JSON.stringify(path.slice(1, 20))} of a Redis server; allowed is 0 to ${maxDatabase}`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError('user or password in the URL of a Redis server is not percent-encoded UTF-8');
  }
}
