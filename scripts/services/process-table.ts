// Which servers run, asked of the kernel. There are no pid files: a server carries its marks in its environment, which
// /proc shows for as long as it lives and not a moment longer, so nothing can be stale and a reused pid fools nobody.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a server's environment says of it. */
export interface ServerMarks {
  /** The `.services` folder of the checkout that started it. */
  readonly root: string;
  /** Where the server keeps everything of its own; one server per folder. */
  readonly folder: string;
  /** See owner.ts. */
  readonly owner: string;
}

export interface RunningServer extends ServerMarks {
  readonly pid: number;
}

export interface Listener {
  readonly port: number;
  /** Undefined: a process of another user, which this one may not look into. */
  readonly pid?: number;
  /** Its command line, cut to 200 characters. */
  readonly command?: string;
}

const variables = { root: 'WEIR_SERVICES_ROOT', folder: 'WEIR_SERVICES_FOLDER', owner: 'WEIR_SERVICES_OWNER' } as const;
const maxCommandLength = 200;
/** State LISTEN in /proc/net/tcp. */
const listening = '0A';

/** The environment variables that carry the marks. */
export function marksAsEnvironment(marks: ServerMarks): Record<string, string> {
  return { [variables.root]: marks.root, [variables.folder]: marks.folder, [variables.owner]: marks.owner };
}

/** All servers that a checkout has started and that still run. */
export function runningServers(root: string): RunningServer[] {
  return processIds()
    .map(runningServer)
    .filter((server) => server?.root === root) as RunningServer[];
}

/** The server whose folder this is, of whatever checkout. */
export function serverIn(folder: string): RunningServer | undefined {
  return processIds()
    .map(runningServer)
    .find((server) => server?.folder === folder);
}

/** The server with this pid; undefined when it is gone, is just ending, or isn't one of ours. */
export function runningServer(pid: number): RunningServer | undefined {
  const environment = readIfThere(`/proc/${pid}/environ`);
  if (environment === undefined || !environment.includes(variables.folder)) return undefined;
  const values = new Map(
    environment.split('\0').map((entry) => {
      const end = entry.indexOf('=');
      return [entry.slice(0, end), entry.slice(end + 1)] as const;
    }),
  );
  const root = values.get(variables.root);
  const folder = values.get(variables.folder);
  const owner = values.get(variables.owner);
  if (root === undefined || folder === undefined || owner === undefined) return undefined;
  return { pid, root, folder, owner };
}

/**
 * Start time in clock ticks since boot: with the pid it names one process for good. Undefined when it is gone to its last
 * thread, which is later than for runningServer: only then its ports are free.
 */
export function startTicks(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The command in field 2 may hold spaces and brackets, so fields are counted from its last bracket.
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const isZombie = state === 'Z' && namesIn(`/proc/${pid}/task`).length <= 1;
  return isZombie ? undefined : fields[18];
}

/** Who listens on a port, on whatever address. */
export function listenerOn(port: number): Listener | undefined {
  const inodes = new Set([...listeningInodes('/proc/net/tcp', port), ...listeningInodes('/proc/net/tcp6', port)]);
  if (inodes.size === 0) return undefined;
  const pid = processIds().find((pid) => socketsOf(pid).some((inode) => inodes.has(inode)));
  if (pid === undefined) return { port };
  const command = (readIfThere(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
  return { port, pid, command: command.slice(0, maxCommandLength) };
}

/** For people: `port 27220 is used by process 4711 (redis-server …)`; of a server of ours it names the checkout. */
export function describeListener(listener: Listener): string {
  if (listener.pid === undefined) return `port ${listener.port} is used by a process of another user`;
  const server = runningServer(listener.pid);
  const whose = server === undefined ? listener.command : `a server of ${server.root}, started by ${server.owner}`;
  return `port ${listener.port} is used by process ${listener.pid} (${whose})`;
}

function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function listeningInodes(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return (readIfThere(table) ?? '')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === listening && local?.split(':')[1] === wanted)
    .map((columns) => columns[9] ?? '');
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return namesIn(folder).flatMap((name) => {
    const target = ifThere(() => readlinkSync(`${folder}/${name}`)) ?? '';
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
  });
}

function namesIn(folder: string): string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}

function readIfThere(path: string): string | undefined {
  return ifThere(() => readFileSync(path, 'utf8'));
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isOutOfReach(error)) return undefined;
    throw error;
  }
}

// A process ends while one looks at it, or belongs to another user.
function isOutOfReach(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}
