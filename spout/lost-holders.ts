// Finds runs whose holder is gone, or doesn't know of them any more (protocol §5).
//
// Owns the questions that are out and the list of shards that were looked through once since they became ours.
//
// Invariants:
//   G1  At most `maxQuestions` are out; each is forgotten after `askTimeoutMs`.
//   G2  The first pass over a shard looks at all its leases, so that a restart recovers at once; what isn't due is then offered
//       only when its holder is gone.

import { AlarmKind } from '../proto/gen/weir/run/v1/run_pb.js';
import type { IndexHit } from '../store/port.ts';
import { printableRun, runParts } from '../store/run-name.ts';
import { type HolderStanding, LeaseWatch } from './core/lease-watch.ts';
import type { DispatchLink } from './dispatch-link.ts';
import type { DispatchLinks } from './dispatch-links.ts';
import type { Offering } from './offering.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';
import type { ShardAccess } from './shard-access.ts';

interface Question {
  readonly hit: IndexHit;
  readonly link: DispatchLink;
  readonly askedMs: number;
}

type HeldHit = IndexHit & { readonly holder: NonNullable<IndexHit['holder']> };

export class LostHolders {
  readonly #ports: SpoutPorts;
  readonly #settings: SpoutSettings;
  readonly #access: ShardAccess;
  readonly #links: DispatchLinks;
  readonly #offering: Offering;
  readonly #watch: LeaseWatch;
  /** The oldest first. */
  readonly #questions = new Map<number, Question>();
  #lastQuestionId = 0;
  #lookedThrough = new Set<number>();

  constructor(
    ports: SpoutPorts,
    settings: SpoutSettings,
    access: ShardAccess,
    links: DispatchLinks,
    offering: Offering,
  ) {
    this.#ports = ports;
    this.#settings = settings;
    this.#access = access;
    this.#links = links;
    this.#offering = offering;
    this.#watch = new LeaseWatch(settings);
  }

  /** Our shards changed: those that come back later are looked through again. */
  ownershipChanged(): void {
    const own = new Set(this.#access.own);
    this.#lookedThrough = new Set([...this.#lookedThrough].filter((shard) => own.has(shard)));
  }

  /** Answers the pause until the next pass, in ms. */
  async pass(): Promise<number> {
    this.#forgetQuestions();
    // Without a link there is nobody to offer to, and a pass would use up the first look.
    if (this.#links.size === 0) return this.#settings.leaseEveryMs;
    let whole = true;
    for (const shard of this.#access.own) {
      whole = (await this.#passShard(shard)) && whole;
    }
    this.#watch.endPass(whole);
    return this.#access.jittered(this.#settings.leaseEveryMs);
  }

  answered(link: DispatchLink, questionId: number, holds: boolean): void {
    const question = this.#questions.get(questionId);
    if (!question || question.link !== link) return;
    this.#questions.delete(questionId);
    const { hit } = question;
    const action = this.#watch.answered(hit.run, hit.fence, holds, this.#ports.clock.monotonicMs());
    if (action === 'offer') this.#offering.urge(hit);
  }

  async #passShard(shard: number): Promise<boolean> {
    const dueMs = this.#ports.clock.nowMs();
    const isFirst = !this.#lookedThrough.has(shard);
    let allPlaced = true;
    const whole = await this.#access.walk(shard, 'lease', isFirst ? undefined : dueMs, async (hits) => {
      for (const hit of hits) allPlaced = (await this.#look(hit, dueMs)) && allPlaced;
    });
    if (whole && allPlaced && this.#access.isOwn(shard)) this.#lookedThrough.add(shard);
    return whole;
  }

  /** Answers false when it found no place for an offer. */
  async #look(hit: IndexHit, dueMs: number): Promise<boolean> {
    if (!isHeld(hit)) return true;
    const standing = this.#standing(hit);
    if (hit.dueMs > dueMs) return standing !== 'gone' || this.#offering.urge(hit);
    switch (this.#watch.look(hit.run, hit.fence, standing, this.#ports.clock.monotonicMs())) {
      case 'offer':
        return this.#offering.urge(hit);
      case 'ask':
        this.#ask(hit);
        return true;
      case 'alarm':
        await this.#alarm(hit);
        return true;
      case 'wait':
        return true;
    }
  }

  #standing({ holder }: HeldHit): HolderStanding {
    if (this.#links.to(holder)) return 'reachable';
    return this.#ports.membership.goneForMs(holder) >= this.#settings.graceMs ? 'gone' : 'silent';
  }

  #ask(hit: HeldHit): void {
    const link = this.#links.to(hit.holder);
    if (!link || this.#questions.size >= this.#settings.maxQuestions) return;
    const questionId = ++this.#lastQuestionId;
    this.#questions.set(questionId, { hit, link, askedMs: this.#ports.clock.monotonicMs() });
    link.ask(questionId, hit.run, hit.fence);
  }

  #forgetQuestions(): void {
    const oldestMs = this.#ports.clock.monotonicMs() - this.#settings.askTimeoutMs;
    for (const [questionId, { askedMs }] of this.#questions) {
      if (askedMs > oldestMs) return;
      this.#questions.delete(questionId);
    }
  }

  async #alarm({ run, fence, holder }: HeldHit): Promise<void> {
    const { store, clock } = this.#ports;
    const { business, flow, itemKey } = runParts(run);
    const minutes = Math.round(this.#settings.stuckMs / 60_000);
    const alarm = {
      key: `holder-stuck/${run}/${fence.epoch}.${fence.version}`,
      kind: AlarmKind.HOLDER_STUCK,
      business,
      flow,
      itemKey,
      step: '',
      module: '',
      message: `${printableRun(run)} has been held by ${holder.processId} for ${minutes} minutes without a change`,
      atMs: clock.nowMs(),
    };
    try {
      await store.raise(alarm);
    } catch (error) {
      this.#watch.notAlarmed(run, fence);
      this.#access.failed(error, `raising an alarm about ${printableRun(run)}`);
    }
  }
}

function isHeld(hit: IndexHit): hit is HeldHit {
  return hit.holder !== undefined;
}
