// Faults planted in the protocol, one each, to see that the checkers are not blind: a mutant that no seed catches means a better
// checker or a better world.

import { create } from '@bufbuild/protobuf';
import type { ModuleCall, Modules } from '../../dispatch/modules/port.ts';
import type { RunId } from '../../flow/run.ts';
import { Ending, type InboxEvent, InboxEventSchema } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { CommitWrite, Store } from '../../store/port.ts';
import type { CheckerName } from './checkers/check.ts';
import type { Mutant } from './run.ts';

export interface PlantedFault extends Mutant {
  /** The checker that is there for it; others may catch it too. */
  readonly caughtBy: CheckerName;
}

export const mutants: Readonly<Record<string, PlantedFault>> = {
  'the store does not compare fences': { caughtBy: 'no stale write', sharedStore: withoutFences },
  'a commit is answered before it is stored, and gets lost': {
    caughtBy: 'no effect before its change',
    store: (store) => losing(store, 'commit', 10),
  },
  'a created run is acknowledged and not stored': {
    caughtBy: 'nothing lost',
    store: (store) => losing(store, 'create', 10),
  },
  'an inbox event is acknowledged and not stored': {
    caughtBy: 'inbox consumed once',
    store: (store) => losing(store, 'post', 2),
  },
  'an inbox event is consumed twice': { caughtBy: 'inbox consumed once', store: forgetful },
  'a retry is taken to name the present outcome': { caughtBy: 'one outcome', store: obliging },
  'a released run is in no index': { caughtBy: 'everything ends', store: withoutTimers },
  'a run that has ended keeps a timer': { caughtBy: 'no entries at rest', store: withEndlessTimers },
  'claims are counted and never forgotten': { caughtBy: 'parked for a reason', store: withManyClaims },
  'overload spends an attempt': {
    caughtBy: 'attempts are failures',
    modules: heardAs(Ending.FAILED, [Ending.OVERLOADED, Ending.NO_AUTH]),
  },
  'a lost call counts as one that was never sent': {
    caughtBy: 'calls within bounds',
    modules: heardAs(Ending.UNREACHABLE, [Ending.LOST]),
  },
  'the call key changes with each claim': {
    caughtBy: 'calls within bounds',
    modules: rewritten((call) => ({ ...call, callKey: `${call.callKey}/${call.epoch}` })),
  },
  'an answer of another call is taken': { caughtBy: 'real outputs', modules: mixedUp },
  'a final answer is taken for a failure': {
    caughtBy: 'final answers',
    modules: heardAs(Ending.FAILED, [Ending.FATAL, Ending.REJECTED]),
  },
};

/** `store` with some of its operations replaced. */
function overlaid(store: Store, replaced: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(name in replaced ? replaced : target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

function withoutFences(store: Store): Store {
  const current = async <Write extends CommitWrite | Parameters<Store['claim']>[0]>(write: Write): Promise<Write> => {
    const head = await store.peek(write.run);
    return head ? { ...write, expected: head.fence } : write;
  };
  return overlaid(store, {
    claim: async (write) => store.claim(await current(write)),
    commit: async (write) => store.commit(await current(write)),
  });
}

/** One write of a kind in so many is answered `done` and goes nowhere. */
function losing(store: Store, operation: 'create' | 'commit' | 'post', oneIn: number): Store {
  let count = 0;
  const isLost = () => ++count % oneIn === 0;
  const done = { kind: 'done' } as const;
  switch (operation) {
    case 'create':
      return overlaid(store, { create: async (write) => (isLost() ? done : store.create(write)) });
    case 'commit':
      return overlaid(store, { commit: async (write) => (isLost() ? done : store.commit(write)) });
    case 'post':
      return overlaid(store, { post: async (run, event) => (isLost() ? done : store.post(run, event)) });
  }
}

/** Events show up in the inbox again after they were consumed. */
function forgetful(store: Store): Store {
  const known = new Map<RunId, Map<string, InboxEvent>>();
  const remember = (run: RunId, events: readonly InboxEvent[]): InboxEvent[] => {
    const all = known.get(run) ?? new Map<string, InboxEvent>();
    known.set(run, all);
    for (const event of events) all.set(event.id, event);
    return [...all.values()];
  };
  return overlaid(store, {
    load: async (run) => {
      const stored = await store.load(run);
      return stored && { ...stored, inbox: remember(run, stored.inbox) };
    },
    inbox: async (run) => remember(run, await store.inbox(run)),
  });
}

function obliging(store: Store): Store {
  return overlaid(store, {
    load: async (run) => {
      const stored = await store.load(run);
      if (!stored) return undefined;
      const { outcomeNumber } = stored.run.control.status;
      const inbox = stored.inbox.map((event) =>
        event.kind.case === 'retry'
          ? create(InboxEventSchema, {
              id: event.id,
              arrivedMs: event.arrivedMs,
              kind: { case: 'retry', value: { outcomeNumber } },
            })
          : event,
      );
      return { ...stored, inbox };
    },
  });
}

/** A run that is let go to sleep gets no timer. */
function withoutTimers(store: Store): Store {
  return overlaid(store, {
    commit: (write) => store.commit(write.release ? { ...write, release: { ready: write.release.ready } } : write),
  });
}

/** Every run that is let go has a timer, one that has ended too. */
function withEndlessTimers(store: Store): Store {
  const farMs = Date.UTC(2100, 0, 1);
  return overlaid(store, {
    commit: (write) =>
      store.commit(write.release ? { ...write, release: { timerMs: farMs, ...write.release } } : write),
  });
}

function withManyClaims(store: Store): Store {
  return overlaid(store, {
    load: async (run) => {
      const stored = await store.load(run);
      return stored && { ...stored, barrenClaims: stored.fence.epoch + 14 };
    },
  });
}

function rewritten(rewrite: (call: ModuleCall) => ModuleCall): (modules: Modules) => Modules {
  return (modules) => ({ call: (call, done) => modules.call(rewrite(call), done) });
}

/** Every tenth answer is the one before it. */
function mixedUp(modules: Modules): Modules {
  let count = 0;
  let before: Parameters<Parameters<Modules['call']>[1]>[0] | undefined;
  return {
    call: (call, done) =>
      modules.call(call, (outcome) => {
        const given = ++count % 10 === 0 ? (before ?? outcome) : outcome;
        before = outcome;
        done(given);
      }),
  };
}

/** Some endings come to the driver as another. */
function heardAs(ending: Ending, instead: readonly Ending[]): (modules: Modules) => Modules {
  return (modules) => ({
    call: (call, done) =>
      modules.call(call, ({ answer, tries }) => {
        const isMeant = instead.includes(answer.ending);
        done({ answer: isMeant ? { ...answer, ending } : answer, tries });
      }),
  });
}
