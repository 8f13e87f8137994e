// A spout among hand-made neighbours, as its tests need them: a manual clock, the memory store, and dispatches that only do what
// the test says.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ManualClock } from '../platform/clock/manual-clock.ts';
import { InProcessMembership } from '../platform/coordination/in-process-membership.ts';
import type { Member } from '../platform/coordination/membership.ts';
import { type Channel, channelPair } from '../platform/rpc/channel.ts';
import {
  type FromDispatch,
  FromDispatchSchema,
  type FromSpout,
  type Offer,
  type OfferVerdict,
  type RunReference,
} from '../proto/gen/weir/feed/v1/feed_pb.js';
import { type InboxEvent, InboxEventSchema, Reason, State } from '../proto/gen/weir/run/v1/run_pb.js';
import { MemoryStore } from '../store/memory/memory-store.ts';
import type { CreateWrite } from '../store/port.ts';
import { latin1, latin1Bytes, type RunId } from '../store/run-name.ts';
import type { SpoutSettings } from './settings.ts';
import { Spout } from './spout.ts';

export interface RunSetup {
  readonly level?: number;
  readonly order?: number;
  readonly bytes?: number;
  readonly state?: State;
  readonly entries?: CreateWrite['entries'];
  readonly heldBy?: FakeDispatch;
}

export function run(key: string): RunId {
  return `1/mail/intake/${key}` as RunId;
}

/** The key of a run that a message speaks of. */
function keyOf(reference: RunReference | undefined): string {
  return latin1(reference?.id ?? new Uint8Array()).slice(run('').length);
}

export function spoutMember(processId: string): Member {
  return { role: 'spout', processId, incarnation: `${processId}-first`, address: '', unit: '', capacity: 1 };
}

/** The other end of a link. */
export class FakeDispatch {
  readonly member: Member;
  readonly received: FromSpout[] = [];
  readonly #channel: Channel<FromDispatch, FromSpout>;
  /** The verdict on each offer; undefined: none. */
  verdict: OfferVerdict | undefined;
  /** The answer to each question; undefined: none. */
  holds: boolean | undefined;

  constructor(processId: string, channel: Channel<FromDispatch, FromSpout>) {
    this.member = {
      role: 'dispatch',
      processId,
      incarnation: `${processId}-first`,
      address: '',
      unit: '',
      capacity: 512,
    };
    this.#channel = channel;
    channel.listen((message) => this.#receive(message));
  }

  get offers(): Offer[] {
    return this.received.flatMap(({ message }) => (message.case === 'offer' ? [message.value] : []));
  }

  get offered(): string[] {
    return this.offers.map((offer) => keyOf(offer.run));
  }

  get nudged(): string[] {
    return this.received.flatMap(({ message }) => (message.case === 'nudge' ? [keyOf(message.value.run)] : []));
  }

  get asked(): string[] {
    return this.received.flatMap(({ message }) => (message.case === 'holdQuestion' ? [keyOf(message.value.run)] : []));
  }

  get backlog(): number | undefined {
    const told = this.received.findLast(({ message }) => message.case === 'backlog')?.message;
    return told?.case === 'backlog' ? told.value.levels : undefined;
  }

  /** `heard`: the number of the last offer counted in. */
  credit(runs: number, bytes = 1_000_000, heard = this.offers.length): void {
    this.#send({ case: 'credits', value: { runs, bytes: BigInt(bytes), heard: BigInt(heard) } });
  }

  answer(key: string, verdict: OfferVerdict): void {
    this.#send({ case: 'offerAnswer', value: { run: { shard: 0, id: latin1Bytes(run(key)) }, verdict } });
  }

  close(): void {
    this.#channel.close();
  }

  #receive(message: FromSpout): void {
    this.received.push(message);
    if (message.message.case === 'offer' && this.verdict !== undefined) {
      this.answer(keyOf(message.message.value.run), this.verdict);
    }
    if (message.message.case === 'holdQuestion' && this.holds !== undefined) {
      const { questionId } = message.message.value;
      this.#send({ case: 'holdAnswer', value: { questionId, holds: this.holds } });
    }
  }

  #send(message: NonNullable<MessageInitShape<typeof FromDispatchSchema>['message']>): void {
    this.#channel.send(create(FromDispatchSchema, { message }));
  }
}

/** Membership as one process sees it whose connection may be lost. */
class TestMembership extends InProcessMembership {
  readonly #listeners = new Set<() => void>();
  #isSafe = true;

  override watch(listener: () => void): () => void {
    const unwatch = super.watch(listener);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      unwatch();
    };
  }

  override isSafe(): boolean {
    return this.#isSafe;
  }

  setSafe(isSafe: boolean): void {
    this.#isSafe = isSafe;
    for (const listener of this.#listeners) listener();
  }
}

export class SpoutWorld {
  readonly clock = new ManualClock();
  readonly store: MemoryStore;
  readonly membership = new TestMembership(this.clock);
  readonly errors: string[] = [];
  #writes = 0;

  constructor(shards = 4) {
    this.store = new MemoryStore(shards);
  }

  spout(settings: Partial<SpoutSettings> = {}, processId = 'spout-1'): Spout {
    const { clock, membership, store } = this;
    const onError = (error: unknown, doing: string) => this.errors.push(`${doing}: ${String(error)}`);
    const ports = { clock, store, membership, random: () => 0.5, onError };
    return new Spout(spoutMember(processId), ports, settings);
  }

  /** A dispatch that is a member and linked to `spout`. */
  async dispatch(spout: Spout, processId = 'dispatch-1'): Promise<FakeDispatch> {
    const [mine, theirs] = channelPair<FromSpout, FromDispatch>((action) => this.clock.soon(action));
    const dispatch = new FakeDispatch(processId, theirs);
    await this.membership.join(dispatch.member);
    spout.connect(dispatch.member, mine);
    // As a real one does: it says at once what it can take.
    dispatch.credit(0);
    return dispatch;
  }

  /** Ready and unheld unless `setup` says otherwise. */
  async create(key: string, setup: RunSetup = {}): Promise<void> {
    const { heldBy, entries = { ready: true } } = setup;
    const holder = heldBy && {
      processId: heldBy.member.processId,
      incarnation: heldBy.member.incarnation,
      claimedMs: this.clock.nowMs(),
    };
    const changes = { ...noChanges(), control: this.#control(key, setup) };
    const write = { run: run(key), writeId: this.#writeId(), changes, entries, ...(holder && { holder }) };
    const { kind } = await this.store.create(write);
    if (kind !== 'done') throw new Error(`creating ${key}: ${kind}`);
  }

  /** A commit of the run as it stands, or in another state; with `release` it is let go. */
  async commit(key: string, release?: CreateWrite['entries'], state?: State): Promise<void> {
    const head = await this.store.peek(run(key));
    if (!head) throw new Error(`${key} is absent`);
    const { control, fence: expected } = head;
    const changes = noChanges();
    if (state !== undefined) changes.control = { ...control, status: { ...control.status, state } };
    const write = { run: run(key), writeId: this.#writeId(), changes, expected };
    await this.store.commit({ ...write, ...(release && { release }) });
  }

  async post(key: string, id: string, kind: 'cancel' | 'release' | 'level'): Promise<void> {
    const value = kind === 'level' ? { level: 1 } : {};
    const event: InboxEvent = create(InboxEventSchema, {
      id,
      arrivedMs: BigInt(this.clock.nowMs()),
      kind: { case: kind, value },
    } as MessageInitShape<typeof InboxEventSchema>);
    await this.store.post(run(key), event);
  }

  #writeId(): string {
    return `write-${++this.#writes}`;
  }

  #control(key: string, { level = 5, order = 1, bytes = 10, state = State.OPEN }: RunSetup) {
    return {
      business: 'mail',
      itemKey: latin1Bytes(key),
      flow: 'intake',
      generation: 1,
      flowVersion: 1,
      level,
      order,
      creationHash: new Uint8Array(32),
      createdMs: this.clock.nowMs(),
      deadlineMs: this.clock.nowMs() + 3_600_000,
      inputBytes: bytes,
      superseded: false,
      status: {
        state,
        reason: Reason.UNSPECIFIED,
        detail: '',
        outcomeNumber: 0,
        outcome: State.UNSPECIFIED,
        sinceMs: this.clock.nowMs(),
        evidence: [],
      },
    };
  }
}

function noChanges(): CreateWrite['changes'] {
  return { steps: new Map(), fields: new Map(), executions: [], consumed: [], alarms: [] };
}
