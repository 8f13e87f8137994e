// What becomes of work that a module has taken on: it answers later, by the token of the request. At times it answers before it says
// that it has taken the work on, twice, about another round, too late, or never.
//
// Owns nothing but what is on its way, which the client's count knows.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CompletedEventSchema } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { outputsOf } from '../world/answers.ts';
import type { CallHappening, SeenRequest } from '../world/history.ts';
import type { SimulatedModules } from '../world/modules.ts';
import type { Random } from '../world/random.ts';
import type { Client } from './client.ts';

export interface LaterAnswersWorld {
  readonly modules: SimulatedModules;
  readonly client: Client;
  readonly random: Random;
}

/** Longest time until an answer that comes in time, in ms. */
const maxSoonMs = 1_500;
/** Longest time until one that may come too late, in ms: longer than any flow waits. */
const maxLateMs = 15_000;

const endings = [
  ...Array.from({ length: 8 }, () => Ending.SUCCEEDED),
  Ending.FAILED,
  Ending.FAILED,
  Ending.REJECTED,
  Ending.FATAL,
];

export class LaterAnswers {
  readonly #world: LaterAnswersWorld;
  #answers = 0;

  constructor(world: LaterAnswersWorld) {
    this.#world = world;
  }

  begin(): void {
    this.#world.modules.onWork = (call, request) => this.#work(call, request);
  }

  /** A module works on a request for work that takes longer. */
  #work(call: CallHappening, request: SeenRequest): void {
    const { random } = this.#world;
    if (random.chance(0.1)) return;
    const afterMs = random.between(0, random.chance(0.85) ? maxSoonMs : maxLateMs);
    this.#answer(call, request, call.round, afterMs);
    if (random.chance(0.15)) this.#answer(call, request, call.round, afterMs + random.between(0, 500));
    if (random.chance(0.15)) this.#answer(call, request, call.round + random.pick([-1, 1]), afterMs);
  }

  #answer({ run, step }: CallHappening, request: SeenRequest, round: number, afterMs: number): void {
    if (round < 1) return;
    const { client, random } = this.#world;
    const ending = random.pick(endings);
    const fields = ending === Ending.SUCCEEDED ? this.#fields(request) : {};
    const value = { step, round, ending, message: 'answered later', fields };
    client.later(afterMs, (over) => client.post(run, { case: 'completed', value }, over));
  }

  #fields(request: SeenRequest): NonNullable<MessageInitShape<typeof CompletedEventSchema>['fields']> {
    const fields = outputsOf(request, `later${++this.#answers}`);
    // Only the flow can see that a declared field isn't of its type.
    if (this.#world.random.chance(0.05)) fields.set(`${request.step}_number`, 'many');
    return Object.fromEntries([...fields].map(([name, value]) => [name, { value: Buffer.from(value) }]));
  }
}
