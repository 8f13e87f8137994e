// An endpoint as one start of one process reaches it: what Endpoint is over gRPC, over the simulated network.
//
// Owns the count of its calls on their way, and what it believes of the health of the other end, which is late.

import { status as Code } from '@grpc/grpc-js';
import { classifyResponse, classifyStatus, type EndedExchange } from '../../../dispatch/modules/classify.ts';
import type { EndpointOptions, EndpointPort } from '../../../dispatch/modules/endpoint.ts';
import type { Answer } from '../../../flow/event.ts';
import { Health } from '../../../proto/gen/weir/directory/v1/directory_pb.js';
import { type Reply, seenRequest } from './answers.ts';
import type { ProcessClock } from './clock.ts';
import type { Cuts } from './cuts.ts';
import type { Faults } from './faults.ts';
import type { CallHappening, SeenRequest } from './history.ts';
import type { ModuleProcess } from './module-process.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

/** Who hears what becomes of a request. */
export interface Hearer {
  answered(reply: Reply): void;
  /** The connection broke. */
  lost(): void;
}

/** What lies between a caller and the processes of modules. */
export interface ModuleNetwork {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  readonly cuts: Cuts;
  /** A module gets a request. Of a copy that the network made nobody hears. */
  receive(process: ModuleProcess, call: CallHappening, request: SeenRequest, hearer?: Hearer): void;
}

/** The process that calls. */
export interface Caller {
  readonly process: string;
  readonly clock: ProcessClock;
  /** The call that a request was sent for. */
  callOf(request: SeenRequest): CallHappening;
  /** An answer to the call broke the contract in what only the flow can see. */
  malformed(call: CallHappening): void;
}

/** How long the other end stays silent before its connection counts as lost, in ms. */
const keepaliveMs = 10_000;
/** How often a lost connection is tried again, in ms. */
const reconnectMs = 1_000;

const refused = ended(Code.UNAVAILABLE, 'connection refused', 'unsent');
const lost = ended(Code.UNAVAILABLE, 'the connection was lost', 'lost');
const late = ended(Code.DEADLINE_EXCEEDED, 'no answer in time', 'local');

export class SimulatedEndpoint implements EndpointPort {
  readonly address: string;
  readonly concurrency: number;
  readonly #options: EndpointOptions;
  readonly #network: ModuleNetwork;
  readonly #process: ModuleProcess;
  readonly #caller: Caller;
  #health = Health.UNKNOWN;
  #inFlight = 0;

  constructor(options: EndpointOptions, network: ModuleNetwork, process: ModuleProcess, caller: Caller) {
    this.address = options.address.text;
    this.concurrency = options.concurrency;
    this.#options = options;
    this.#network = network;
    this.#process = process;
    this.#caller = caller;
    process.watch(() => this.#lookSoon());
    this.#lookSoon();
  }

  get health(): Health {
    return this.#health;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  send(request: Buffer, rowkey: Uint8Array, timeoutMs: number, answered: (answer: Answer) => void): () => void {
    if (this.#inFlight >= this.concurrency) throw new Error(`${this.address} has no free place`);
    this.#inFlight++;
    let isOut = true;
    const leave = () => {
      if (!isOut) return false;
      isOut = false;
      this.#inFlight--;
      return true;
    };
    const end = (answer: () => Answer) => {
      if (leave()) answered(answer());
    };
    this.#caller.clock.after(timeoutMs, () => end(() => classifyStatus(late)));
    // Read at once: the buffer is written again for the next call.
    this.#transmit(seenRequest(request), (reply) => end(() => this.#heard(reply, rowkey)));
    return leave;
  }

  close(): void {}

  /** Sends the request; `hear` is told what comes back to the caller, if anything does. */
  #transmit(request: SeenRequest, hear: (reply: Reply['sent']) => void): void {
    const { clock, process } = this.#caller;
    const { faults, random, time, cuts } = this.#network;
    const call = this.#caller.callOf(request);
    const where = `#${call.number} at ${this.address}`;
    const thereMs = random.between(1, 5);
    const isKnownDown = this.#health === Health.UNREACHABLE && this.#process.health === Health.UNREACHABLE;
    if (isKnownDown || faults.strikes('module unreachable', where))
      return void clock.after(thereMs, () => hear(refused));
    if (cuts.isCut(process, this.address)) return void clock.after(keepaliveMs, () => this.#broken(hear));
    if (faults.strikes('call lost', where)) return void clock.after(thereMs, () => hear(lost));
    const back = (reply: Reply['sent']) => void clock.after(random.between(1, 5), () => hear(reply));
    time.after(thereMs, () =>
      this.#network.receive(this.#process, call, request, {
        lost: () => back(lost),
        answered: (reply) => {
          if (faults.strikes('answer TIMED_OUT', where)) return;
          if (faults.strikes('answer lost', where)) return back(lost);
          if (reply.isMalformed) this.#caller.malformed(call);
          back(reply.sent);
        },
      }),
    );
    if (faults.strikes('duplicated call', where)) {
      time.after(thereMs + random.between(1, 2_000), () => this.#network.receive(this.#process, call, request));
    }
  }

  #heard(sent: Reply['sent'], rowkey: Uint8Array): Answer {
    return 'code' in sent ? classifyStatus(sent) : classifyResponse(sent, rowkey);
  }

  #broken(hear: (reply: Reply['sent']) => void): void {
    this.#tell(Health.UNREACHABLE);
    hear(lost);
  }

  #lookSoon(afterMs = 1): void {
    this.#caller.clock.after(afterMs + this.#network.random.between(0, 20), () => {
      const isCut = this.#network.cuts.isCut(this.#caller.process, this.address);
      this.#tell(isCut ? Health.UNREACHABLE : this.#process.health);
    });
  }

  #tell(health: Health): void {
    if (health === Health.UNREACHABLE) this.#lookSoon(reconnectMs);
    if (health === this.#health) return;
    this.#health = health;
    this.#options.healthChanged();
  }
}

function ended(code: Code, details: string, origin: EndedExchange['origin']): EndedExchange {
  return { code, details, origin, opened: origin !== 'unsent', answered: false };
}
