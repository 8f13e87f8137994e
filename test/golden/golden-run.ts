// The commands of golden scenarios, performed on a run in a world without anything else. They are listed in README.md.

import type { StartEffect } from '../../flow/effect.ts';
import type { Answer, ChildEnd, ChildSeen, RunEvent } from '../../flow/event.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Parent, RunId } from '../../flow/run.ts';
import { runId } from '../../flow/run-id.ts';
import { type Decided, VirtualRun } from '../../flow/simulation/virtual-run.ts';
import { Ending, Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Command, durationMs, readCommand } from './command.ts';

/** The run that starts this one, where a scenario says that another one does. */
const parentRun = runId({
  business: 'golden',
  flow: 'parent',
  itemKey: new TextEncoder().encode('item'),
  generation: 1,
});

export class GoldenRun {
  readonly #run: VirtualRun;
  readonly #planOf: (version: number) => Plan;
  /** The last start of each step that starts runs: it says how the child is called. */
  readonly #starts = new Map<string, StartEffect>();

  constructor(planOf: (version: number) => Plan) {
    this.#planOf = planOf;
    this.#run = new VirtualRun(planOf(1));
  }

  perform(line: string): Decided {
    const command = readCommand(line);
    const decided =
      this.#fromHolder(command) ?? this.#fromPeople(command) ?? this.#fromOutside(command) ?? this.#ofChild(command);
    if (!decided) throw new Error(`no command is named ${JSON.stringify(command.verb)}`);
    for (const effect of decided.effects) if (effect.kind === 'start') this.#starts.set(effect.step, effect);
    return decided;
  }

  /** What the holder of the run does and hears. */
  #fromHolder(command: Command): Decided | undefined {
    const { verb, words, fields } = command;
    const [first = '', second = ''] = words;
    const run = this.#run;
    switch (verb) {
      case 'submit':
        return run.submit(fields);
      case 'begin':
        return this.#begin(command);
      case 'claim':
        run.decideWith(this.#planOf(run.run.control.flowVersion));
        return run.happen({ kind: 'claimed', barrenClaims: Number(first || 1) });
      case 'answer':
        return run.happen(this.#answer(command));
      case 'withdraw':
        return run.happen({ kind: 'withdrawn', step: first, round: Number(second || 1) });
      case 'told':
        return run.happen({ kind: 'told', step: first });
      case 'advance':
        run.moveTo(run.nowMs + durationMs(first));
        return run.happen({ kind: 'tick' });
      default:
        return undefined;
    }
  }

  #fromPeople({ verb, words, options }: Command): Decided | undefined {
    const [first = '', second = ''] = words;
    const run = this.#run;
    const flowVersion = Number(options.get('version') ?? 0);
    switch (verb) {
      case 'cancel':
        return run.inbox({ case: 'cancel', value: { cause: words.join(' ') } });
      case 'retry':
        return run.inbox({ case: 'retry', value: { outcomeNumber: Number(first), flowVersion } });
      case 'rewind':
        return run.inbox({ case: 'rewind', value: { outcomeNumber: Number(first), step: second, flowVersion } });
      case 'release':
        return run.inbox({ case: 'release', value: {} });
      case 'level':
        return run.inbox({ case: 'level', value: { level: Number(first) } });
      default:
        return undefined;
    }
  }

  #fromOutside({ verb, words, cells, options }: Command): Decided | undefined {
    const [first = '', second = ''] = words;
    switch (verb) {
      case 'signal':
        return this.#run.inbox({ case: 'signal', value: { name: first, fields: cells } });
      case 'complete': {
        const message = options.get('message') ?? '';
        const round = this.#roundOf(first, options);
        const ending = endingOf(second);
        return this.#run.inbox({ case: 'completed', value: { step: first, round, ending, message, fields: cells } });
      }
      default:
        return undefined;
    }
  }

  /** News of the run that a step started. */
  #ofChild({ verb, words, fields, cells, options }: Command): Decided | undefined {
    const [step = '', how = '', ...more] = words;
    switch (verb) {
      case 'seen': {
        const seen = this.#seen(this.#childOf(step), how, more, { fields, options });
        return this.#run.happen({ kind: 'child seen', step, round: this.#roundOf(step, options), seen });
      }
      case 'child': {
        const end = endOf(how, more[0], { fields, options });
        const { outcome, outcomeNumber, reason, detail } = end;
        const child = options.get('of') ?? this.#childOf(step);
        const round = this.#roundOf(step, options);
        const value = { step, round, child, outcome, outcomeNumber, reason, detail, fields: cells };
        return this.#run.inbox({ case: 'childEnded', value });
      }
      case 'reopened': {
        const value = { step, round: this.#roundOf(step, options), child: this.#childOf(step) };
        return this.#run.inbox({ case: 'childReopened', value: { ...value, outcomeNumber: Number(how) } });
      }
      default:
        return undefined;
    }
  }

  #begin({ words, options, fields }: Command): Decided {
    const parent: Parent = {
      run: parentRun,
      step: 'child',
      round: 1,
      waits: words.includes('waits'),
      receive: options.get('receive')?.split(',') ?? [],
      chain: Number(options.get('chain') ?? 1),
    };
    const within = options.get('within');
    return this.#run.submit(fields, {
      parent,
      rowKey: new TextEncoder().encode('item'),
      ...(within !== undefined && { latestMs: this.#run.nowMs + durationMs(within) }),
    });
  }

  #answer({ words: [step = '', ending = ''], options, fields }: Command): RunEvent & { kind: 'answered' } {
    const state = this.#run.run.steps.get(step);
    const message = options.get('message') ?? '';
    const how = endingOf(ending);
    const answer: Answer = { ending: how, message, fields };
    return {
      kind: 'answered',
      step,
      round: this.#roundOf(step, options),
      attempt: Number(options.get('attempt') ?? (state?.attempts ?? 0) + 1),
      answer,
      tries: [{ endpoint: 'e1', ending: how, message, startedMs: this.#run.nowMs, durationUs: 1_000 }],
    };
  }

  #roundOf(step: string, options: ReadonlyMap<string, string>): number {
    return Number(options.get('round') ?? this.#run.run.steps.get(step)?.round ?? 1);
  }

  #childOf(step: string): RunId {
    const start = this.#starts.get(step);
    if (!start) throw new Error(`${step} has started no run`);
    const { flow, itemKey } = start.name;
    return this.#run.run.steps.get(step)?.child ?? runId({ business: 'golden', flow, itemKey, generation: 1 });
  }

  #seen(child: RunId, how: string, more: readonly string[], with_: Pick<Command, 'fields' | 'options'>): ChildSeen {
    switch (how) {
      case 'open':
        return { kind: 'open', child };
      case 'retried':
        return { kind: 'retried', child, outcomeNumber: Number(more[0]) };
      case 'refused':
        return { kind: 'refused', message: more.join(' ') };
      case 'ended':
        return { kind: 'ended', child, end: endOf(more[0] ?? '', more[1], with_) };
      default:
        throw new Error(`a child is not seen ${JSON.stringify(how)}`);
    }
  }
}

function endOf(outcome: string, number: string | undefined, { fields, options }: Pick<Command, 'fields' | 'options'>) {
  const state = State[outcome as keyof typeof State];
  if (state === undefined) throw new Error(`no outcome is named ${outcome}`);
  const reason = state === State.FAILED ? Reason.FATAL : Reason.UNSPECIFIED;
  const detail = options.get('message') ?? '';
  return { outcome: state, outcomeNumber: Number(number), reason, detail, fields } satisfies ChildEnd;
}

function endingOf(name: string): Ending {
  const ending = Ending[name as keyof typeof Ending];
  if (ending === undefined) throw new Error(`no ending is named ${name}`);
  return ending;
}
