// Faults of whoever finds runs: spouts.

import type { Mutant } from './mutant.ts';

const leaseWatch = 'spout/core/lease-watch.ts';
const readySource = 'spout/ready-source.ts';

export const spoutMutants: readonly Mutant[] = [
  {
    name: 'runs are taken from holders that nobody asked',
    file: leaseWatch,
    line: "return this.#decided(run, { ...entry, askMs: nowMs + askTimeoutMs }, 'ask');",
    instead: "return this.#decided(run, { ...entry, askMs: nowMs + askTimeoutMs }, 'offer');",
    caughtBy: 'nobody is robbed',
  },
  {
    name: 'runs of holders that are gone are not offered',
    file: leaseWatch,
    line: "if (holder === 'gone') return this.#decided(run, entry, 'offer');",
    instead: "if (holder === 'gone') return this.#decided(run, entry, 'wait');",
    caughtBy: 'everything ends',
  },
  {
    name: 'runs that nobody holds any more are not offered',
    file: leaseWatch,
    line: "if (!holds) return 'offer';",
    instead: "if (!holds) return 'wait';",
    caughtBy: 'everything ends',
  },
  {
    name: 'a spout never scans again',
    file: readySource,
    line: 'if (pass && this.#ageMs(pass) < lastsMs) return pass;',
    instead: 'if (pass) return pass;',
    caughtBy: 'everything ends',
  },
  {
    name: 'a skip list is kept in memory',
    file: 'spout/core/offers.ts',
    line: 'this.#entries.set(run, { fence, ticket, restUntilMs: nowMs + offerTimeoutMs, answered: false, refusals });',
    instead: 'this.#entries.set(run, { fence, ticket, restUntilMs: Infinity, answered: false, refusals });',
    caughtBy: 'everything ends',
  },
  {
    name: 'credits of lost offers are not given back',
    file: 'spout/dispatch-link.ts',
    line: 'this.#unheard.delete(number);',
    instead: '',
    caughtBy: 'everything ends',
  },
  {
    name: 'timers are never due',
    file: 'spout/timer-promoter.ts',
    line: "await this.#access.walk(shard, 'timer', this.#ports.clock.nowMs(), (hits)",
    instead: "await this.#access.walk(shard, 'timer', 0, (hits)",
    caughtBy: 'everything ends',
  },
  {
    name: 'inboxes of parked runs are not looked at',
    file: 'spout/inbox-watch.ts',
    line: 'return wakes !== true || this.#offering.urge(hit);',
    instead: 'return wakes !== undefined;',
    caughtBy: 'everything ends',
  },
];
