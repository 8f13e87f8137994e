// The modules as one start of one process reaches them: the real calls of dispatch, recorded at both ends.
//
// Owns the process's CalledModules, and which call of it each request was sent for.

import type { CalledModule } from '../../../dispatch/modules/called-module.ts';
import type { ModuleCall, Modules, PendingCall } from '../../../dispatch/modules/port.ts';
import type { Answer } from '../../../flow/event.ts';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { ProcessClock } from './clock.ts';
import type { Caller } from './endpoint.ts';
import type { CallHappening, SeenRequest } from './history.ts';

/** What a caller asks of the modules. */
export interface CalledModules {
  /** The module of this name, as the caller reaches it. */
  open(name: string, caller: Caller): CalledModule;
  noteCall(incarnation: string, call: ModuleCall): CallHappening;
  noteAnswer(call: CallHappening, ending: Ending, answer: Answer): void;
  noteWithdrawal(call: CallHappening): void;
}

export class ModuleCaller implements Caller, Modules {
  readonly process: string;
  readonly clock: ProcessClock;
  readonly #incarnation: string;
  readonly #modules: CalledModules;
  readonly #called = new Map<string, CalledModule>();
  /** The newest call with each key. */
  readonly #calls = new Map<string, CallHappening>();
  /** Calls whose last answer was malformed. */
  readonly #malformed = new Set<CallHappening>();

  constructor(modules: CalledModules, process: string, incarnation: string, clock: ProcessClock) {
    this.#modules = modules;
    this.process = process;
    this.#incarnation = incarnation;
    this.clock = clock;
  }

  call(call: ModuleCall, done: Parameters<Modules['call']>[1]): PendingCall {
    const happening = this.#modules.noteCall(this.#incarnation, call);
    this.#calls.set(call.callKey, happening);
    const pending = this.#module(call.module).call(call, (outcome) => {
      const { answer } = outcome;
      const isMalformed = answer.ending === Ending.SUCCEEDED && this.#malformed.has(happening);
      this.#modules.noteAnswer(happening, isMalformed ? Ending.VIOLATION : answer.ending, answer);
      done(outcome);
    });
    return {
      abort: () => pending.abort(),
      withdraw: () => {
        const isWithdrawn = pending.withdraw();
        if (isWithdrawn) this.#modules.noteWithdrawal(happening);
        return isWithdrawn;
      },
    };
  }

  callOf({ callKey }: SeenRequest): CallHappening {
    const call = this.#calls.get(callKey);
    if (!call) throw new Error(`a request was sent with key ${callKey}, which no call has`);
    return call;
  }

  malformed(call: CallHappening): void {
    this.#malformed.add(call);
  }

  #module(name: string): CalledModule {
    const known = this.#called.get(name);
    if (known) return known;
    const opened = this.#modules.open(name, this);
    this.#called.set(name, opened);
    return opened;
  }
}
