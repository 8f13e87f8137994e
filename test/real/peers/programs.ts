// The foreign programs that talk to Weir in tests. scripts/install-peers.sh puts them under .services/.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

export const root = `${import.meta.dirname}/../../..`;
const services = `${root}/.services`;
export const grpcurlProgram = `${services}/bin/grpcurl`;
export const healthProbeProgram = `${services}/bin/grpc-health-probe`;
export const pythonProgram = `${services}/python/bin/python`;

/** Milliseconds that one foreign program gets; a Python with gRPC starts in about a second on an idle machine. */
const maxRunMs = 60_000;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever its exit code. */
export function run(program: string, ...parameters: string[]): Promise<Finished> {
  mustExist(program);
  return new Promise((resolve, reject) => {
    execFile(program, parameters, { timeout: maxRunMs }, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

/** grpcurl against a plaintext port, without any .proto file: it asks by reflection. Flags go first. */
export function grpcurl(...parameters: string[]): Promise<Finished> {
  return run(grpcurlProgram, '-plaintext', ...parameters);
}

/** Calls a unary method from Python, types by reflection. Request and answer are JSON as protobuf maps it. */
export async function callFromPython(address: string, method: string, request: unknown): Promise<unknown> {
  const script = `${import.meta.dirname}/call_by_reflection.py`;
  const { code, stdout, stderr } = await run(pythonProgram, script, address, method, JSON.stringify(request));
  if (code !== 0) throw new Error(`${method} from Python: ${stderr}`);
  return JSON.parse(stdout) as unknown;
}

export interface Server {
  /** `host:port`, the first line it printed. */
  readonly address: string;
  /** Ends it with SIGTERM. Gives its exit code. */
  stop(this: void): Promise<number | null>;
}

/** Starts a server that prints its address as its first line. */
export async function startServer(program: string, ...parameters: string[]): Promise<Server> {
  mustExist(program);
  const child: ChildProcess = spawn(program, parameters, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  if (!child.stdout) throw new Error('no stdout');
  const lines = createInterface({ input: child.stdout });
  const exit = once(child, 'exit');
  const first = (await Promise.race([once(lines, 'line'), exit])) as unknown[];
  if (typeof first[0] !== 'string') throw new Error(`${program} ended before it printed its address`);
  return {
    address: first[0],
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await exit) as [number | null];
      return code;
    },
  };
}

function mustExist(program: string): void {
  if (!existsSync(program)) throw new Error(`${program} is missing; run scripts/install-peers.sh`);
}
