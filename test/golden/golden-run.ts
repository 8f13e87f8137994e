// One run in a world without anything else: time moves when the scenario says so, chance is always one half.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { apply } from '../../flow/apply.ts';
import { type Changes, mergeChanges, noChanges } from '../../flow/change.ts';
import { decide } from '../../flow/decide.ts';
import type { Effect } from '../../flow/effect.ts';
import type { RunEvent } from '../../flow/event.ts';
import { newRun } from '../../flow/new-run.ts';
import type { Plan } from '../../flow/plan.ts';
import type { FieldValue, Run } from '../../flow/run.ts';
import { type Standing, standing } from '../../flow/standing.ts';
import { Ending, type InboxEvent, InboxEventSchema } from '../../proto/gen/weir/run/v1/run_pb.js';

type InboxKind = NonNullable<MessageInitShape<typeof InboxEventSchema>['kind']>;

export const startMs = Date.UTC(2026, 0, 1);
const endingDeadlineMs = 60_000;

export interface Decided {
  /** As it was before; undefined when the command created the run. */
  readonly before: Run | undefined;
  readonly after: Run;
  readonly changes: Changes;
  readonly effects: readonly Effect[];
  readonly standing: Standing;
}

export class GoldenRun {
  readonly #plan: Plan;
  #run: Run | undefined;
  #nowMs = startMs;
  #events = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  perform(command: string): Decided {
    const [verb = '', ...words] = command.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
    switch (verb) {
      case 'submit':
        return this.#submit(fieldsOf(words));
      case 'claim':
        return this.#happen({ kind: 'claimed', barrenClaims: Number(words[0] ?? 1) });
      case 'answer':
        return this.#happen(this.#answer(words));
      case 'late':
        return this.#happen({ ...this.#answer(words.slice(1)), round: Number(words[0]) });
      case 'withdraw':
        return this.#happen({ kind: 'withdrawn', step: words[0] ?? '', round: Number(words[1] ?? 1) });
      case 'advance':
        this.#nowMs += durationMs(words[0] ?? '');
        return this.#happen({ kind: 'tick' });
      case 'cancel':
        return this.#inbox({ case: 'cancel', value: { cause: words.join(' ') } });
      case 'retry':
        return this.#inbox({ case: 'retry', value: { outcomeNumber: Number(words[0]) } });
      case 'release':
        return this.#inbox({ case: 'release', value: {} });
      case 'level':
        return this.#inbox({ case: 'level', value: { level: Number(words[0]) } });
      default:
        throw new Error(`no command is named ${JSON.stringify(verb)}`);
    }
  }

  #submit(fields: ReadonlyMap<string, FieldValue>): Decided {
    const itemKey = new TextEncoder().encode('item');
    const from = {
      itemKey,
      generation: 1,
      level: 5,
      order: 1,
      creationHash: new Uint8Array(),
      fields,
      nowMs: this.#nowMs,
    };
    const { run, changes } = newRun(this.#plan, from);
    this.#run = run;
    const decided = this.#happen({ kind: 'claimed', barrenClaims: 1 });
    const all = noChanges();
    mergeChanges(all, changes);
    mergeChanges(all, decided.changes);
    return { ...decided, before: undefined, changes: all };
  }

  #answer([step = '', ending = '', ...words]: string[]): RunEvent & { kind: 'answered' } {
    const state = this.#run?.steps.get(step);
    const message = words.find((word) => word.startsWith('message='))?.slice('message='.length) ?? '';
    const fields = fieldsOf(words.filter((word) => !word.startsWith('message=')));
    const how = Ending[ending as keyof typeof Ending];
    if (how === undefined) throw new Error(`no ending is named ${ending}`);
    return {
      kind: 'answered',
      step,
      round: state?.round ?? 1,
      attempt: (state?.attempts ?? 0) + 1,
      answer: { ending: how, message: unquoted(message), fields },
      tries: [{ endpoint: 'e1', ending: how, message: unquoted(message), startedMs: this.#nowMs, durationUs: 1_000 }],
    };
  }

  #inbox(kind: InboxKind): Decided {
    const event: InboxEvent = create(InboxEventSchema, { id: `event-${++this.#events}`, kind });
    return this.#happen({ kind: 'inbox', event });
  }

  #happen(event: RunEvent): Decided {
    const run = this.#run;
    if (!run) throw new Error('the first command is `submit`');
    const before = copy(run);
    const context = { nowMs: this.#nowMs, random: () => 0.5, endingDeadlineMs };
    const { changes, effects } = decide(this.#plan, run, event, context);
    this.#run = apply(run, changes);
    return { before, after: copy(this.#run), changes, effects, standing: standing(this.#run, endingDeadlineMs) };
  }
}

/** `apply` goes on using the maps of the run it is given. */
function copy(run: Run): Run {
  return { ...run, steps: new Map(run.steps), fields: new Map(run.fields) };
}

function fieldsOf(words: readonly string[]): ReadonlyMap<string, FieldValue> {
  return new Map(
    words.map((word) => {
      const [name = '', ...value] = word.split('=');
      return [name, { bytes: new TextEncoder().encode(unquoted(value.join('='))) }] as const;
    }),
  );
}

function unquoted(word: string): string {
  return word.replaceAll('"', '');
}

function durationMs(text: string): number {
  const match = /^(\d+)(ms|s|m|h)$/.exec(text);
  if (!match) throw new Error(`${JSON.stringify(text)} is no duration`);
  return Number(match[1]) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as 'ms' | 's' | 'm' | 'h'];
}
