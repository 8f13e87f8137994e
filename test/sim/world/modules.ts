// Business modules: their processes, what they are sent, what they answer. Processes of the installation call them through the
// real module calls of dispatch, over simulated endpoints.
//
// Owns the processes of the modules, and the ledger of calls (in the history). What is on its way arrives also when its sender has
// died, and a module works on when nobody waits any more.

import { CalledModule } from '../../../dispatch/modules/called-module.ts';
import type { ModuleCall, Modules } from '../../../dispatch/modules/port.ts';
import type { Answer } from '../../../flow/event.ts';
import type { RunId } from '../../../flow/run.ts';
import { identityOf, latin1Bytes, runId } from '../../../flow/run-id.ts';
import { Health } from '../../../proto/gen/weir/directory/v1/directory_pb.js';
import type { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { callbackModules } from '../workload/draft.ts';
import { madeUpReply } from './answers.ts';
import type { ProcessClock } from './clock.ts';
import type { Cuts } from './cuts.ts';
import { type Caller, type Hearer, type ModuleNetwork, SimulatedEndpoint } from './endpoint.ts';
import type { Faults } from './faults.ts';
import type { CallHappening, History, SeenRequest } from './history.ts';
import { type CalledModules, ModuleCaller } from './module-caller.ts';
import { ModuleProcess } from './module-process.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

/** Endpoints of a module, one of them for each module. */
const endpoints = [1, 1, 2, 2, 3, 4];
/** Calls in flight at an endpoint, one of them in each world: few enough for calls to wait. */
const concurrencies = [1, 1, 2, 10];
/** What a call that isn't slow takes at most, in ms, one of them in each world: in some many runs are held at once. */
const mostWorkMs = [100, 100, 1_500];
/** Longest time that a module's process is down after a poison item, in ms: shorter than a step's pause after a loss. */
const maxPoisonedMs = 500;

export interface ModulesWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly history: History;
  readonly scheduling: Random;
  readonly cuts: Cuts;
}

interface Module {
  readonly name: string;
  readonly processes: readonly ModuleProcess[];
}

export class SimulatedModules implements CalledModules, ModuleNetwork {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  readonly cuts: Cuts;
  readonly #history: History;
  readonly #behaviour: Random;
  readonly #concurrency: number;
  readonly #mostMs: number;
  readonly #poison: ReadonlySet<string>;
  readonly #modules = new Map<string, Module>();
  /** Called when a process begins to work on what it answers later. */
  onWork: (call: CallHappening, request: SeenRequest) => void = () => {};
  #calls = 0;
  #receipts = 0;

  /** `poison`: identities of items that kill whoever works on them. */
  constructor(world: ModulesWorld, behaviour: Random, poison: ReadonlySet<string>) {
    this.time = world.time;
    this.random = world.scheduling;
    this.faults = world.faults;
    this.cuts = world.cuts;
    this.#history = world.history;
    this.#behaviour = behaviour;
    this.#concurrency = behaviour.pick(concurrencies);
    this.#mostMs = behaviour.pick(mostWorkMs);
    this.#poison = poison;
  }

  /** Those that were called so far. */
  get processes(): ModuleProcess[] {
    return [...this.#modules.values()].flatMap(({ processes }) => processes);
  }

  /** The modules as one start of a process reaches them. */
  handle(process: string, incarnation: string, clock: ProcessClock): Modules {
    return new ModuleCaller(this, process, incarnation, clock);
  }

  open(name: string, caller: Caller): CalledModule {
    const module = this.#module(name);
    const byAddress = new Map(module.processes.map((process) => [process.address, process]));
    const addresses = module.processes.map(({ address }) => ({ text: address, target: '' }));
    return new CalledModule(
      { name, endpoints: addresses, concurrency: this.#concurrency },
      {
        clock: caller.clock,
        random: this.random.next,
        openEndpoint: (options) => {
          const process = byAddress.get(options.address.text);
          if (!process) throw new Error(`no process at ${options.address.text}`);
          return new SimulatedEndpoint(options, this, process, caller);
        },
      },
    );
  }

  /** A dispatch performs a call. */
  noteCall(incarnation: string, call: ModuleCall): CallHappening {
    const { step, round, attempt, epoch, callKey } = call;
    const number = ++this.#calls;
    const happening: CallHappening = {
      kind: 'call',
      number,
      process: incarnation,
      run: runOf(call),
      step,
      round,
      attempt,
      epoch,
      callKey,
    };
    this.#history.add(happening);
    return happening;
  }

  noteAnswer(call: CallHappening, ending: Ending, { fields }: Answer): void {
    const values = new Map([...fields].map(([name, { bytes }]) => [name, Buffer.from(bytes).toString('latin1')]));
    this.#history.add({ kind: 'answer', call, ending, fields: values });
  }

  noteWithdrawal(call: CallHappening): void {
    this.#history.add({ kind: 'withdrawal', call });
  }

  /** A module gets a request. Of a copy that the network made nobody hears. */
  receive(process: ModuleProcess, call: CallHappening, request: SeenRequest, hearer?: Hearer): void {
    if (process.health === Health.UNREACHABLE) return hearer?.lost();
    this.#history.add({ kind: 'receipt', call, endpoint: process.address, request, isCopy: hearer === undefined });
    process.begin({ ...this.#work(process, call, request, hearer), lost: () => hearer?.lost() });
  }

  #work(process: ModuleProcess, call: CallHappening, request: SeenRequest, hearer: Hearer | undefined) {
    const behaviour = this.#behaviour;
    const endpoint = process.address;
    const where = `#${call.number} at ${endpoint}`;
    if (this.#poison.has(identityOf(call.run))) {
      const finish = () => {
        this.faults.record('poison item', where);
        hearer?.lost();
        process.crash(behaviour.between(50, maxPoisonedMs));
      };
      return { takesMs: behaviour.between(1, 20), finish };
    }
    if (endpoint.startsWith(callbackModules)) this.onWork(call, request);
    const isSlow = this.faults.strikes('slow module', where);
    const finish = () => {
      const reply = madeUpReply(this.faults, behaviour, where, request, ++this.#receipts);
      if (!hearer) return;
      const { ending, fields } = reply;
      this.#history.add({ kind: 'delivery', call, endpoint, request, ending, fields });
      hearer.answered(reply);
    };
    return { takesMs: isSlow ? behaviour.between(1_000, 30_000) : behaviour.between(1, this.#mostMs), finish };
  }

  #module(name: string): Module {
    const known = this.#modules.get(name);
    if (known) return known;
    const count = this.#behaviour.pick(endpoints);
    const processes = Array.from({ length: count }, (_, index) => new ModuleProcess(this.time, `${name}/${index}`));
    const module = { name, processes };
    this.#modules.set(name, module);
    return module;
  }
}

/** The run that calls: its row key is that of another where another run has started it. */
function runOf({ business, flow, callKey }: ModuleCall): RunId {
  const [generation, , , key = ''] = callKey.split('/');
  return runId({ business, flow, itemKey: latin1Bytes(decodeURIComponent(key)), generation: Number(generation) });
}
