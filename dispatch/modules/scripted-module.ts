// A module for tests, in this process but over real gRPC. It answers as it is told, or holds calls until it is.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { implement } from '../../platform/rpc/handlers.ts';
import { type RunningServer, startServer } from '../../platform/rpc/server.ts';
import {
  Module,
  type ProcessRequest,
  type ProcessResponseSchema,
  type ReturnCode,
} from '../../proto/gen/weir/module/v1/module_pb.js';
import { freePort } from './free-port.ts';

type Response = MessageInitShape<typeof ProcessResponseSchema>;

export interface HeldCall {
  readonly request: ProcessRequest;
  readonly signal: AbortSignal;
  answer(response: Response): void;
}

export class ScriptedModule {
  readonly address: string;
  readonly requests: ProcessRequest[] = [];
  readonly held: HeldCall[] = [];
  /** What to answer; undefined holds the call. */
  script: (request: ProcessRequest) => Response | undefined = () => undefined;
  #server: RunningServer | undefined;
  #arrived: Array<() => void> = [];

  private constructor(port: number) {
    this.address = `127.0.0.1:${port}`;
  }

  /** `health`: serve grpc.health.v1 and say at once that it serves; default true. */
  static async start({ health = true } = {}): Promise<ScriptedModule> {
    const module = new ScriptedModule(await freePort());
    await module.listen({ health });
    return module;
  }

  /** Listens, also again after `stop`. */
  async listen({ health = true } = {}): Promise<void> {
    this.#server = await startServer({
      address: this.address,
      health,
      services: [
        implement(Module, {
          process: (request, { signal }) => this.#process(request, signal),
          processStream: async function* () {},
        }),
      ],
      onError: (error) => {
        throw error;
      },
    });
    this.#server.health.set(true);
  }

  /** Always the same code. */
  static async answering(code: ReturnCode): Promise<ScriptedModule> {
    const module = await ScriptedModule.start();
    module.script = () => ({ code });
    return module;
  }

  serve(serving: boolean): void {
    this.#server?.health.set(serving);
  }

  /** Resolves when so many requests have come since the start. */
  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#arrived.push(resolve));
  }

  async stop(): Promise<void> {
    await this.#server?.stop(0);
  }

  #process(request: ProcessRequest, signal: AbortSignal): Promise<Response> {
    this.requests.push(request);
    for (const wake of this.#arrived.splice(0)) wake();
    const response = this.script(request);
    if (response) return Promise.resolve(response);
    return new Promise((resolve) => this.held.push({ request, signal, answer: resolve }));
  }
}
