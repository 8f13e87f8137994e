import { Code, RpcError } from '../../platform/rpc/error.ts';
import { implement } from '../../platform/rpc/handlers.ts';
import { defaultMaxConcurrentCalls } from '../../platform/rpc/limits.ts';
import { startServer } from '../../platform/rpc/server.ts';
import { Module, ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { type Call, checkDefinition, type FieldSpecs, type ModuleDefinition } from './module.ts';
import { createProcessor } from './process.ts';
import { advertised, type CheckedRegister, checkRegister, type RegisterOptions } from './register-options.ts';
import { Registrar } from './registrar.ts';
import { stopAtTermination } from './termination.ts';

export interface ServeOptions {
  /**
   * `host:port`; port 0 takes a free one. Default: the environment variable WEIR_MODULE_ADDRESS, else `127.0.0.1:0`, which
   * nobody outside this machine reaches.
   */
  readonly address?: string;
  /**
   * Calls that run at the same time; default 64: enough to keep a process busy that waits for others, few enough to fail
   * early. Beyond it the module answers SVR_OVER_LOAD, and the engine takes another endpoint.
   */
  readonly concurrency?: number;
  /** Milliseconds that running calls get to finish when the module stops; default 10,000, well within the usual 30 s before SIGKILL. */
  readonly graceMs?: number;
  /** Stop on SIGTERM and SIGINT, then end the process with code 0; default true. */
  readonly handleSignals?: boolean;
  /**
   * Make the module known to engines while it serves. Default: to those that the environment variable WEIR_ENGINES names; without it the
   * engines have to list the module. False: never.
   */
  readonly register?: RegisterOptions | false;
  /** Gets what `process` threw and was not a ModuleError; default: one line on stderr. */
  readonly onError?: (error: unknown, call: Call) => void;
}

export interface ServedModule {
  readonly name: string;
  /** `host:port` as bound. */
  readonly address: string;
  readonly port: number;
  /** Tells engines that it takes no more calls, lets running ones finish, up to `graceMs`, then cuts them. */
  stop(this: void): Promise<void>;
}

/**
 * Serves a module over gRPC, with health and reflection. Settles when it takes calls. Throws a TypeError when the definition
 * is wrong, an Error when the address can't be bound. A process may serve several modules, each on its own port.
 */
export async function serveModule<const Input extends FieldSpecs, const Output extends FieldSpecs>(
  definition: ModuleDefinition<Input, Output>,
  options: ServeOptions = {},
): Promise<ServedModule> {
  const untyped = definition as unknown as ModuleDefinition<FieldSpecs, FieldSpecs>;
  checkDefinition(untyped);
  const { name } = definition;
  const { concurrency = 64, graceMs = 10_000 } = options;
  if (!(Number.isSafeInteger(concurrency) && concurrency > 0)) {
    throw new TypeError(`${name}: concurrency is ${concurrency}, allowed is a whole number from 1`);
  }
  const register = checkRegister(options.register);
  const address = options.address ?? process.env.WEIR_MODULE_ADDRESS ?? '127.0.0.1:0';
  const onError = options.onError ?? ((error) => report(name, error));
  const server = await startServer({
    address,
    services: [moduleService(createProcessor(untyped, { concurrency, onError }))],
    // So that calls beyond `concurrency` hear SVR_OVER_LOAD instead of waiting at the client.
    maxConcurrentCalls: concurrency + defaultMaxConcurrentCalls,
    onError: (error) => report(name, error),
  });
  const bound = `${hostOf(address)}:${server.port}`;
  const registrar = register && registrarOf(name, register, { bound, concurrency }, options);
  server.health.set(true);
  registrar?.start();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopServing());
  const stopServing = async (): Promise<void> => {
    server.health.set(false);
    await registrar?.drain();
    await server.stop(graceMs);
    registrar?.end();
    forget();
  };
  const forget = options.handleSignals === false ? () => {} : stopAtTermination(stop);
  return { name, port: server.port, address: bound, stop };
}

function registrarOf(
  module: string,
  { engines, address, ...said }: CheckedRegister,
  served: { readonly bound: string; readonly concurrency: number },
  { register }: ServeOptions,
): Registrar {
  const { bound, concurrency } = served;
  const registration = {
    module,
    concurrency,
    ...said,
    address: address ?? advertised(bound),
    labels: { ...said.labels },
  };
  const told = register === false ? undefined : register?.onProblem;
  return new Registrar({
    ...{ engines, registration },
    onProblem: told ?? ((message) => report(module, `not registered: ${message}`)),
  });
}

function moduleService(process: ReturnType<typeof createProcessor>) {
  return implement(
    Module,
    {
      process,
      processStream: () => {
        throw new RpcError(Code.UNIMPLEMENTED, 'ProcessStream is not served by this module; call Process');
      },
    },
    {
      process: (problem) => ({
        code: ReturnCode.FAIL_PARSE_REQ_PKG,
        message: new TextEncoder().encode(`the request is ${problem}`),
      }),
    },
  );
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

function report(name: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${name}: ${text.replaceAll(/\s*\n\s*/g, ' | ')}\n`);
}
