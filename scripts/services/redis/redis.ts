// Redis as locks need it: nothing is kept on disk, and nothing is ever evicted, because a lock that vanishes is two holders.

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { exchange, faultOf } from '../exchange.ts';
import { ServiceFailure } from '../failure.ts';
import { type Installation, install, installedFolder, type Say } from '../installation.ts';
import { runProgram } from '../run-program.ts';
import type { Server } from '../server.ts';

export interface RedisPlace {
  readonly folder: string;
  readonly port: number;
  /** Further lines of redis.conf; the later line wins. */
  readonly configuration?: readonly string[];
}

/** Where redis-server is, and the libraries that came with it. */
export interface RedisProgram {
  readonly program: string;
  readonly libraryPath?: string;
}

const readyWithinMs = 10_000;
const probeTimeoutMs = 2000;
const aptRemedy = 'this needs Debian or Ubuntu; elsewhere put redis-server on the PATH';

/** The machine's redis-server, else Debian's packages unpacked below `.services`, without touching the system. */
export async function installRedis(root: string, say: Say): Promise<RedisProgram> {
  const ofMachine = findRedis(root);
  if (ofMachine !== undefined) return ofMachine;
  await install(root, debianPackages(say), say);
  const program = findRedis(root);
  if (program === undefined) throw new Error('the packages of redis-server hold no redis-server');
  return program;
}

/** The redis-server that is there, without installing one. */
export function findRedis(root: string): RedisProgram | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const ofMachine = folders.map((folder) => join(folder, 'redis-server')).find(existsSync);
  if (ofMachine !== undefined) return { program: ofMachine };
  const installed = installedFolder(root, 'redis');
  const program = join(installed, 'usr/bin/redis-server');
  if (!existsSync(program)) return undefined;
  return { program, libraryPath: libraryFolders(installed).join(delimiter) };
}

/** Such as `7.0.15`. */
export async function redisVersion({ program, libraryPath }: RedisProgram): Promise<string> {
  const library = libraryPath === undefined ? [] : [`LD_LIBRARY_PATH=${libraryPath}`];
  const output = await runProgram('env', [...library, program, '--version'], { remedy: 'Debian: coreutils' });
  return /v=(\S+)/.exec(output)?.[1] ?? 'of unknown version';
}

export function redisServer(redis: RedisProgram, place: RedisPlace): Server {
  const { folder, port } = place;
  return {
    label: 'Redis',
    address: `127.0.0.1:${port}`,
    folder,
    ports: [port],
    readyWithinMs,
    prepare() {
      const file = join(folder, 'redis.conf');
      writeFileSync(file, `${[...settings(place), ...(place.configuration ?? [])].join('\n')}\n`);
      const environment = redis.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: redis.libraryPath };
      return { program: redis.program, arguments: [file], environment, remedy: 'Debian: apt-get install redis-server' };
    },
    findFault: () => ping(port),
  };
}

function settings({ folder, port }: RedisPlace): string[] {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir "${folder}"`,
    'daemonize no',
    'save ""',
    'appendonly no',
    'maxmemory-policy noeviction',
    // The title would be written over the environment, where the marks are.
    'set-proc-title no',
  ];
}

async function ping(port: number): Promise<string | undefined> {
  try {
    const answer = await exchange({
      port,
      request: Buffer.from('PING\r\n'),
      timeoutMs: probeTimeoutMs,
      readAnswer: (received) => (received.includes('\r\n') ? received.toString('utf8').trim() : undefined),
    });
    return answer === '+PONG' ? undefined : `PING is answered by ${answer}`;
  } catch (error) {
    return faultOf(error);
  }
}

function debianPackages(say: Say): Installation {
  return {
    name: 'redis',
    async fill(folder) {
      const cwd = folder;
      const packages = await missingPackages(say);
      await runProgram('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...packages], {
        cwd,
        remedy: aptRemedy,
      });
      for (const name of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
        await runProgram('dpkg', ['--extract', name, '.'], { cwd, remedy: aptRemedy });
      }
    },
  };
}

// What `apt-get install redis-server` would install on this machine, which is what it lacks.
async function missingPackages(say: Say): Promise<string[]> {
  const simulate = async () => {
    const args = ['--simulate', '--no-install-recommends', 'install', 'redis-server'];
    return await runProgram('apt-get', args, { remedy: aptRemedy });
  };
  let plan: string;
  try {
    plan = await simulate();
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    // A machine made from an image has no package lists; only root may fetch them.
    if (process.getuid?.() !== 0) {
      throw new ServiceFailure(`${error.message}\nis redis-server unknown? As root: apt-get update`, undefined, error);
    }
    say('apt-get knows no redis-server: fetching the package lists (apt-get update)');
    await runProgram('apt-get', ['-qq', 'update'], { remedy: aptRemedy });
    plan = await simulate();
  }
  return [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1]!);
}

function libraryFolders(installed: string): string[] {
  return ['usr/lib', 'lib'].flatMap((name) => {
    const parent = join(installed, name);
    if (!existsSync(parent)) return [];
    const below = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [parent, ...below.map((entry) => join(parent, entry.name))];
  });
}
