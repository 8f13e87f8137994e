// Business modules: what they are sent, what they answer, and what becomes of the answers.
//
// Owns the ledger of calls (in the history). A call that is on its way arrives also when its caller has died.

import type { CallOutcome, ModuleCall, Modules, PendingCall } from '../../../dispatch/modules/port.ts';
import type { Answer, Try } from '../../../flow/event.ts';
import { runId } from '../../../flow/run-id.ts';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { ProcessClock } from './clock.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { Faults } from './faults.ts';
import type { CallHappening, History } from './history.ts';
import { Places } from './places.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

/** Answers other than success: the fault behind each, and the code that the module sends. */
const refusals: ReadonlyArray<{ readonly fault: FaultKind; readonly ending: Ending; readonly code?: number }> = [
  { fault: 'answer FAILED', ending: Ending.FAILED, code: 0x43 },
  { fault: 'answer VIOLATION', ending: Ending.VIOLATION },
  { fault: 'answer REJECTED', ending: Ending.REJECTED, code: 0x40 },
  { fault: 'answer FATAL', ending: Ending.FATAL, code: 0x93 },
  { fault: 'answer OVERLOADED', ending: Ending.OVERLOADED, code: 0x81 },
  { fault: 'answer OVER_LIMITS', ending: Ending.OVER_LIMITS, code: 0x91 },
  { fault: 'answer NO_AUTH', ending: Ending.NO_AUTH, code: 0x90 },
];

/** Endpoints of each module: enough for a caller to have a second one to go to. */
const endpoints = 2;
/** Places that a process may have at a module, one of them in each world: few enough for calls to wait. */
const places = [1, 3, 10];

export class SimulatedModules {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  readonly #history: History;
  readonly #places: number;
  #calls = 0;

  constructor(world: { time: VirtualTime; faults: Faults; history: History; scheduling: Random }) {
    this.time = world.time;
    this.random = world.scheduling;
    this.faults = world.faults;
    this.#history = world.history;
    this.#places = this.random.pick(places);
  }

  /** The modules as one process reaches them. */
  handle(process: string, clock: ProcessClock): Modules {
    const own = { modules: this, clock, places: new Places(this.#places) };
    return {
      call: (call, done) => new OneCall(own, call, this.#note(process, call), done).begin(),
    };
  }

  /** A module processes a call. */
  process(call: ModuleCall, happening: CallHappening, endpoint: string): Answer & { readonly isDecline: boolean } {
    const refusal = refusals.find(({ fault }) => this.faults.strikes(fault, `${endpoint} #${happening.number}`));
    const ending = refusal?.ending ?? Ending.SUCCEEDED;
    const fields = refusal ? new Map<string, string>() : outputs(call, happening.number);
    this.#history.add({ kind: 'delivery', call: happening, endpoint, ending, fields });
    return {
      ending,
      ...(refusal?.code !== undefined && { code: refusal.code }),
      message: refusal ? `${endpoint} says ${Ending[ending]}` : '',
      fields: new Map([...fields].map(([name, value]) => [name, { bytes: Buffer.from(value) }])),
      isDecline: ending === Ending.OVERLOADED || ending === Ending.NO_AUTH,
    };
  }

  /** The caller hears. */
  heard(call: CallHappening, ending: Ending): void {
    this.#history.add({ kind: 'answer', call, ending });
  }

  /** The caller took it back. */
  withdrawn(call: CallHappening): void {
    this.#history.add({ kind: 'withdrawal', call });
  }

  #note(process: string, call: ModuleCall): CallHappening {
    const { business, flow, rowkey, step, round, attempt, epoch, callKey } = call;
    const run = runId({ business, flow, itemKey: rowkey, generation: 1 });
    const number = ++this.#calls;
    const happening: CallHappening = { kind: 'call', number, process, run, step, round, attempt, epoch, callKey };
    this.#history.add(happening);
    return happening;
  }
}

/** A step's verdict depends on its item and the step alone; the mark tells which call it came from. */
function outputs({ rowkey, step }: ModuleCall, number: number): Map<string, string> {
  let hash = 0;
  for (const byte of [...rowkey, ...Buffer.from(step)]) hash = (Math.imul(hash, 31) + byte) >>> 0;
  return new Map([
    [`${step}_number`, String(hash % 10)],
    [`${step}_mark`, String(number)],
  ]);
}

/** What a process calls modules with. */
interface Caller {
  readonly modules: SimulatedModules;
  readonly clock: ProcessClock;
  readonly places: Places;
}

/** One call, from its performing to the one answer that its caller hears. */
class OneCall implements PendingCall {
  readonly #modules: SimulatedModules;
  readonly #clock: ProcessClock;
  readonly #places: Places;
  readonly #call: ModuleCall;
  readonly #happening: CallHappening;
  readonly #done: (outcome: CallOutcome) => void;
  readonly #tries: Try[] = [];
  #state: 'waiting' | 'out' | 'over' = 'waiting';

  constructor(
    { modules, clock, places }: Caller,
    call: ModuleCall,
    happening: CallHappening,
    done: (outcome: CallOutcome) => void,
  ) {
    this.#modules = modules;
    this.#clock = clock;
    this.#places = places;
    this.#call = call;
    this.#happening = happening;
    this.#done = done;
  }

  begin(): PendingCall {
    this.#places.take(this.#call.module, this.#goOut);
    this.#clock.after(this.#leftMs, () => {
      if (this.#state !== 'waiting') return;
      this.#leave();
      this.#tell({ ending: Ending.OVERLOADED, message: 'no place until the deadline', fields: new Map() }, []);
    });
    return this;
  }

  abort(): void {
    this.#leave();
  }

  withdraw(): boolean {
    if (this.#state !== 'waiting') return false;
    this.#leave();
    this.#modules.withdrawn(this.#happening);
    return true;
  }

  /** Of the run, in ms. */
  get #leftMs(): number {
    return Math.max(0, this.#call.deadlineMs - this.#clock.nowMs());
  }

  readonly #goOut = (): void => {
    this.#state = 'out';
    this.#clock.after(Math.min(this.#call.timeoutMs, this.#leftMs), () =>
      this.#finish(Ending.TIMED_OUT, this.#endpoint(this.#tries.length), 'no answer in time'),
    );
    this.#try();
  };

  #leave(): void {
    const before = this.#state;
    this.#state = 'over';
    if (before === 'waiting') this.#places.leave(this.#call.module, this.#goOut);
    if (before === 'out') this.#places.giveBack(this.#call.module);
  }

  /** Tries the next endpoint. */
  #try(): void {
    const { random, faults, time } = this.#modules;
    const where = `#${this.#happening.number}`;
    const endpoint = this.#endpoint(this.#tries.length);
    const thereMs = random.between(1, 5);
    if (faults.strikes('module unreachable', where)) {
      this.#clock.after(thereMs, () =>
        this.#declined(endpoint, { ending: Ending.UNREACHABLE, message: 'connection refused' }),
      );
      return;
    }
    if (faults.strikes('call lost', where)) {
      this.#clock.after(thereMs, () => this.#finish(Ending.LOST, endpoint, 'connection lost after sending'));
      return;
    }
    const isLost = faults.strikes('answer lost', where);
    const isLate = faults.strikes('answer TIMED_OUT', where);
    const takesMs = faults.strikes('slow module', where) ? random.between(1_000, 30_000) : random.between(1, 100);
    // The module works in the world's time: it goes on when its caller dies.
    time.after(thereMs + takesMs, () => {
      const answer = this.#modules.process(this.#call, this.#happening, endpoint);
      if (isLate) return;
      this.#clock.after(random.between(1, 5), () => {
        if (isLost) this.#finish(Ending.LOST, endpoint, 'connection lost after sending');
        else if (answer.isDecline) this.#declined(endpoint, answer);
        else this.#answered(endpoint, answer);
      });
    });
  }

  /** Another endpoint may take it. */
  #declined(endpoint: string, answer: Omit<Answer, 'fields'>): void {
    if (this.#state === 'over') return;
    if (this.#tries.length + 1 >= endpoints) return this.#answered(endpoint, { ...answer, fields: new Map() });
    this.#tries.push(this.#oneTry(endpoint, answer));
    this.#try();
  }

  #finish(ending: Ending, endpoint: string, message: string): void {
    this.#answered(endpoint, { ending, message, fields: new Map() });
  }

  #answered(endpoint: string, { ending, code, message, fields }: Answer): void {
    if (this.#state === 'over') return;
    this.#leave();
    const answer = { ending, ...(code !== undefined && { code }), message, fields };
    this.#tell(answer, [...this.#tries, this.#oneTry(endpoint, answer)]);
  }

  #tell(answer: Answer, tries: readonly Try[]): void {
    this.#modules.heard(this.#happening, answer.ending);
    this.#done({ answer, tries });
  }

  #oneTry(endpoint: string, { ending, code, message }: Omit<Answer, 'fields'>): Try {
    const startedMs = this.#clock.nowMs();
    return { endpoint, ending, ...(code !== undefined && { code }), message, startedMs, durationUs: 1_000 };
  }

  #endpoint(index: number): string {
    return `${this.#call.module}/${index % endpoints}`;
  }
}
