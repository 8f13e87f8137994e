// Events for one run, all that wait when the write goes out. Each gets the next number of the run, which says their order; the number
// is compared, so that of two processes that post at once the later one looks again.

import type { Holder } from '../../../flow/run.ts';
import { type InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { decodeHolder } from '../../codec.ts';
import type { PostResult } from '../../port.ts';
import { absent, changeNothing, equals, put, valueOf } from '../cells.ts';
import type { Condition, Mutation, Row } from '../client/port.ts';
import { column, encodeMark, eventStamp } from '../columns.ts';
import { number8, type RunKeys, readNumber8 } from '../row-key.ts';
import type { Attempt, QueuedWrite } from '../shard-queue.ts';
import type { Answering, WriteMemory } from './write-memory.ts';

export interface PostedEvent {
  readonly event: Pick<InboxEvent, 'id' | 'arrivedMs'>;
  readonly bytes: Uint8Array;
  readonly answering: Answering<PostResult>;
}

/** Events in one write. */
const maxEvents = 100;

/** Their bytes, when there are several. */
const maxBytes = 1024 * 1024;

export class PostWrite implements QueuedWrite {
  readonly key: string;
  readonly #keys: RunKeys;
  readonly #memory: WriteMemory;
  readonly #onClosed: () => void;
  #waitingBytes: number;
  #waiting: PostedEvent[] = [];
  /** Those that the present attempt posts. */
  #posting: PostedEvent[] = [];
  #holder: { readonly holder?: Holder } = {};
  /** No run was found: the present attempt asks whether that is so. */
  #asking = false;

  /** `onClosed`: no event can be added any more; called once or several times. */
  constructor(key: string, first: PostedEvent, keys: RunKeys, memory: WriteMemory, onClosed: () => void) {
    this.key = key;
    this.#keys = keys;
    this.#memory = memory;
    this.#onClosed = onClosed;
    this.#waitingBytes = first.bytes.length;
    this.#waiting.push(first);
  }

  /** Of all its events: grows until `onClosed`. Whoever adds one tells the queue. */
  get bytes(): number {
    return this.#waitingBytes;
  }

  /** Takes an event along. Answers false when it is full. */
  add(posted: PostedEvent): boolean {
    const isTwice = this.#waiting.some(({ event }) => event.id === posted.event.id);
    if (isTwice || this.#waiting.length >= maxEvents) return false;
    if (this.#waitingBytes + posted.bytes.length > maxBytes) return false;
    this.#waitingBytes += posted.bytes.length;
    this.#waiting.push(posted);
    return true;
  }

  reads(): readonly Buffer[] {
    this.#onClosed();
    return [this.#keys.row, ...this.#waiting.map(({ event }) => this.#keys.eventMark(event.id))];
  }

  attempt([row, ...marks]: readonly (Row | undefined)[]): Attempt | undefined {
    const posted = row && valueOf(row, column.inbox);
    this.#asking = posted === undefined;
    if (!row || !posted) {
      const isAbsent = absent(this.#keys.row, column.fence);
      return { conditions: [isAbsent], mutations: [changeNothing(this.#keys.row)], alarms: [] };
    }
    const holder = valueOf(row, column.holder);
    this.#holder = holder && holder.length > 0 ? { holder: decodeHolder(holder) } : {};
    this.#posting = [];
    for (const [index, event] of this.#waiting.entries()) {
      const mark = marks[index];
      if (mark && valueOf(mark, column.value)) event.answering.resolve({ kind: 'duplicate', ...this.#holder });
      else this.#posting.push(event);
    }
    this.#waiting = this.#posting;
    if (this.#posting.length === 0) return undefined;
    return this.#post(posted);
  }

  done(): void {
    const result: PostResult = this.#asking ? { kind: 'absent' } : { kind: 'done', ...this.#holder };
    for (const { answering } of this.#waiting) answering.resolve(result);
  }

  refused(): boolean {
    return true;
  }

  failed(cause: string): void {
    this.#onClosed();
    for (const { answering } of this.#waiting) answering.resolve({ kind: 'unknown', cause });
  }

  broken(bug: unknown): void {
    for (const { answering } of this.#waiting) answering.reject(bug);
  }

  #post(before: Buffer): Attempt {
    const count = readNumber8(before, 0);
    const after = count + this.#posting.length;
    const conditions: Condition[] = [equals(this.#keys.row, column.inbox, before)];
    const mutations: Mutation[] = [put(this.#keys.row, after + 1, [[column.inbox, number8(after)]])];
    const index: Buffer[] = [];
    for (const [offset, { event, bytes }] of this.#posting.entries()) {
      const sequence = count + offset;
      const arrivedMs = Number(event.arrivedMs);
      const mark = this.#keys.eventMark(event.id);
      const entry = this.#keys.inbox(arrivedMs, sequence);
      conditions.push(absent(mark, column.value));
      mutations.push(
        put(mark, eventStamp, [[column.value, encodeMark(sequence, arrivedMs)]]),
        put(this.#keys.event(sequence), eventStamp, [[column.value, bytes]]),
        put(entry, eventStamp, [[column.value, number8(0)]]),
      );
      index.push(entry);
    }
    this.#memory.noteIndexRows(index);
    return { conditions, mutations, alarms: [] };
  }
}
