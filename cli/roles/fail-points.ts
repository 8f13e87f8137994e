// Named places at which a process can be made to end or to stop, for tests of crashes: WEIR_FAIL_POINT=after-commit:37 ends it by
// SIGKILL when it passes that place for the 37th time. The places lie around the ports of the roles, so that nothing of this is in
// the way of an engine that runs without: `weir up` loads this file only when the variable is set.

import { writeSync } from 'node:fs';
import type { Modules } from '../../dispatch/modules/port.ts';
import { isTerminal } from '../../flow/standing.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';
import type { CommitWrite, Store } from '../../store/port.ts';
import type { RolePorts } from './dispatch-role.ts';

/**
 * What has a place before it and one after it. `create`, `claim`: those writes. `finish`: a commit that brings the terminal status;
 * `release`: any other that lets go of the run; `commit`: the rest. `call`: before it is sent or waits for a place, and when it is
 * answered but nobody has heard of that. `post`: an outside event. `promote`: due timers. `lock`: taking a run lock.
 */
const passages = ['create', 'claim', 'commit', 'release', 'finish', 'call', 'post', 'promote', 'lock'] as const;

type Passage = (typeof passages)[number];
export type Place = `${'before' | 'after'}-${Passage}`;

export const places: readonly Place[] = passages.flatMap(
  (passage) => [`before-${passage}`, `after-${passage}`] as const,
);

export interface FailPoint {
  readonly place: Place;
  /** Which time that the place is passed, from 1. */
  readonly time: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

export type FailPointReading =
  | { readonly ok: true; readonly failPoint: FailPoint }
  | { readonly ok: false; readonly problem: string };

/** Beyond it nobody waits for a place to be passed. */
const maxTime = 1_000_000;

/** Reads `PLACE:TIME` (SIGKILL) or `PLACE:TIME:stop` (SIGSTOP). */
export function readFailPoint(text: string): FailPointReading {
  const [name, time, action, ...more] = text.split(':');
  const place = places.find((each) => each === name);
  if (!place) return refused(`found place ${JSON.stringify(name)}, allowed are ${places.join(', ')}`);
  if (!/^[1-9][0-9]{0,6}$/.test(time ?? '') || Number(time) > maxTime) {
    return refused(`found time ${JSON.stringify(time ?? '')}, allowed are whole numbers from 1 to ${maxTime}`);
  }
  if ((action !== undefined && action !== 'stop') || more.length > 0) {
    return refused(`found ${JSON.stringify([action, ...more].join(':'))} after the time, allowed is nothing or stop`);
  }
  return { ok: true, failPoint: { place, time: Number(time), signal: action === 'stop' ? 'SIGSTOP' : 'SIGKILL' } };
}

function refused(problem: string): FailPointReading {
  return { ok: false, problem: `${problem}; as in after-commit:37 or after-commit:37:stop` };
}

/** Says so on standard error and sends itself the signal, which the kernel delivers before it answers. */
function strike({ place, signal }: FailPoint): void {
  writeSync(process.stderr.fd, `fail point ${place}: ${signal}\n`);
  process.kill(process.pid, signal);
}

/** The same ports with `act` called, once, when the place has been passed that many times. */
export function withFailPoint(
  ports: RolePorts,
  failPoint: FailPoint,
  act: (failPoint: FailPoint) => void = strike,
): RolePorts {
  let passed = 0;
  const pass: Pass = (place) => {
    if (place === failPoint.place && ++passed === failPoint.time) act(failPoint);
  };
  return {
    store: aroundStore(ports.store, pass),
    modules: aroundModules(ports.modules, pass),
    locks: aroundLocks(ports.locks, pass),
  };
}

type Pass = (place: Place) => void;

async function around<Answer>(passage: Passage, pass: Pass, act: () => Promise<Answer>): Promise<Answer> {
  pass(`before-${passage}`);
  const answer = await act();
  pass(`after-${passage}`);
  return answer;
}

function aroundStore(store: Store, pass: Pass): Store {
  return {
    shards: store.shards,
    create: (write) => around('create', pass, () => store.create(write)),
    claim: (write) => around('claim', pass, () => store.claim(write)),
    commit: (write) => around(passageOf(write), pass, () => store.commit(write)),
    post: (run, event) => around('post', pass, () => store.post(run, event)),
    promote: (shard, due) => around('promote', pass, () => store.promote(shard, due)),
    load: (run) => store.load(run),
    peek: (run) => store.peek(run),
    inbox: (run) => store.inbox(run),
    newest: (identity) => store.newest(identity),
    scan: (request) => store.scan(request),
    list: (query, limit, after) => store.list(query, limit, after),
    count: (query) => store.count(query),
    executions: (run) => store.executions(run),
    allExecutions: (query) => store.allExecutions(query),
    raise: (alarm) => store.raise(alarm),
    alarms: (limit, after) => store.alarms(limit, after),
    close: () => store.close(),
  };
}

function passageOf({ release, changes }: CommitWrite): Passage {
  if (!release) return 'commit';
  return changes.control && isTerminal(changes.control.status.state) ? 'finish' : 'release';
}

function aroundModules(modules: Modules, pass: Pass): Modules {
  return {
    call(call, done) {
      pass('before-call');
      return modules.call(call, (outcome) => {
        pass('after-call');
        done(outcome);
      });
    },
  };
}

function aroundLocks(locks: RunLocks, pass: Pass): RunLocks {
  return {
    acquire: (run, owner, ttlMs) => around('lock', pass, () => locks.acquire(run, owner, ttlMs)),
    renew: (runs, owner, ttlMs) => locks.renew(runs, owner, ttlMs),
    release: (runs, owner) => locks.release(runs, owner),
  };
}
