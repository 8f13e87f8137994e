// What chaos is made of: processes that are killed and started again, and the store that they leave behind. One file per
// target; the harness, the client, the ledger and the audit are the same for all.

import type { Store } from '../../../store/port.ts';
import type { Orphans } from './orphans.ts';
import type { Role } from './supervised-process.ts';

/** A process as the harness treats it. */
export interface Victim {
  readonly name: string;
  readonly role: Role;
  /** SIGKILL, once it is up. Answers whether that is what ended it: it may have been about to end by itself. */
  kill(): Promise<boolean>;
  /** SIGSTOP, and SIGCONT after that time. */
  pause(durationMs: number): Promise<void>;
  /** SIGTERM; resolves when it is up again. */
  restart(): Promise<void>;
}

/** Something besides the processes that can be made to fail: a service, a link. */
export interface Trouble {
  readonly name: string;
  /** How often it is drawn, beside others. */
  readonly weight: number;
  /** Makes it fail, and resolves when it works again. */
  strike(): Promise<void>;
}

export interface Target {
  /** In a fixed order, so that a seed names the same ones each time. */
  readonly victims: readonly Victim[];
  /** In a fixed order too; none where there is nothing but processes. */
  readonly troubles: readonly Trouble[];
  /** Engines that take items in and show runs, `host:port`. */
  readonly addresses: readonly string[];
  /** Where each module is called, `host:port`, by module. */
  readonly endpoints: ReadonlyMap<string, readonly string[]>;
  /** How long what the engines know may take to be told, in ms: a summary reads every run. */
  readonly askTimeoutMs: number;
  /** Stale writes that dispatches say the store refused them, so far. */
  readonly staleWrites: () => number;
  /** Resolves when all processes are up. From then on each is started again whenever it ends. */
  start(): Promise<void>;
  /** Ends all processes as an operator would. */
  stop(): Promise<void>;
  /** Ends all processes at once: the harness has failed. */
  abandon(): Promise<void>;
  /** The store as it stands, once stopped. To be closed by who opens it. */
  openStore(): Promise<Store>;
  /** Ends what else was started: services. */
  close(): Promise<void>;
}

/** What a target is made of, and whom it tells of what happens by itself. */
export interface TargetOptions {
  /** For what the processes write. */
  readonly folder: string;
  /** For what the modules write down about their calls (ledger.ts). */
  readonly ledgers: string;
  /** For what the modules do by chance. */
  readonly seed: number;
  /** How long a process stays stopped that has stopped itself. */
  readonly pauseMs: number;
  readonly lockTtlMs: number;
  readonly orphans: Orphans;
  readonly listener: TargetListener;
}

export interface TargetListener {
  /** For WEIR_FAIL_POINT of an engine that starts now; undefined: none. */
  nextFailPoint(): string | undefined;
  /** A process has signalled itself, as it had announced: `fail point after-commit`, `poison`. */
  announced(victim: string, what: string): void;
  /** A process has ended for a reason that nobody knows. */
  unexplained(message: string): void;
}
