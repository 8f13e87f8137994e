// An alarm that belongs to no commit.

import type { RaisedAlarm } from '../alarm-ledger.ts';
import type { Attempt, QueuedWrite } from '../shard-queue.ts';
import type { Answering } from './write-memory.ts';

export class AlarmWrite implements QueuedWrite {
  readonly key: string;
  readonly bytes: number;
  readonly #alarm: RaisedAlarm;
  readonly #answering: Answering<void>;

  constructor(alarm: RaisedAlarm, answering: Answering<void>) {
    this.key = `alarm/${alarm.key}`;
    this.bytes = alarm.bytes.length;
    this.#alarm = alarm;
    this.#answering = answering;
  }

  reads(): readonly Buffer[] {
    return [];
  }

  attempt(): Attempt {
    return { conditions: [], mutations: [], alarms: [this.#alarm] };
  }

  done(): void {
    this.#answering.resolve();
  }

  refused(): boolean {
    this.#answering.resolve();
    return false;
  }

  /** Told by `onFailure` only: whoever raises it has enough trouble. */
  failed(): void {
    this.#answering.resolve();
  }

  broken(bug: unknown): void {
    this.#answering.reject(bug);
  }
}
