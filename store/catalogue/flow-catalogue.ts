// The catalogue of flows: immutable versions, the releases that say which are in use, and the plans compiled of them.
//
//   flows/<name>/versions/<n>   weir.flow.v1.FlowVersion (version-log.ts)
//   flows/<name>/releases       weir.flow.v1.ReleaseHistory (release-log.ts)
//
// Invariants:
//   C1  Which version a new run gets depends on the present release and the item alone: the same in every process.
//   C2  A flow stays in the business line of its first version: its runs are named by it.

import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { compileFlow } from '../../flow/compile.ts';
import type { Plan } from '../../flow/plan.ts';
import { compileGray, type GrayChoice, type ReleasedItem, takesGray } from '../../flow/routing/gray.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Configuration } from '../../platform/coordination/configuration.ts';
import { type Flow, FlowSchema } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { type FlowVersion, FlowVersionSchema } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import type { Gray, Release } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import type { Audit } from './audit.ts';
import { BusinessCatalogue } from './business-catalogue.ts';
import { type Released, ReleaseLog } from './release-log.ts';
import { type PushResult, VersionLog } from './version-log.ts';

/** Compiled versions kept in memory: far more than are in use at once; the rest is compiled again when it is needed. */
const maxPlans = 1_000;

const root = 'flows';

export type FlowPushResult =
  | PushResult
  /** The flow belongs to another business line (C2). */
  | { readonly kind: 'moved'; readonly business: string };

export type FlowReleaseResult =
  | Released
  /** There is no such version. */
  | { readonly kind: 'absent'; readonly version: number; readonly newest: number }
  /** Nothing is released that could be kept beside a gray version. */
  | { readonly kind: 'nothing to keep' };

export interface FlowRelease {
  /** 0 keeps the released one. */
  readonly version: number;
  readonly gray?: Gray;
}

export interface FlowSummary {
  readonly name: string;
  readonly business: string;
  readonly newest: number;
  readonly release: Release | undefined;
}

export class FlowCatalogue {
  readonly #versions: VersionLog<typeof FlowVersionSchema>;
  readonly #releases: ReleaseLog;
  readonly #businesses: BusinessCatalogue;
  readonly #configuration: Configuration;
  readonly #clock: Clock;
  /** Versions never change: what was compiled once is right for ever. */
  readonly #plans = new Map<string, Plan>();
  /** Of the present releases; a release that is gone takes its entry along. */
  readonly #grays = new WeakMap<Release, GrayChoice>();

  constructor(configuration: Configuration, clock: Clock) {
    this.#configuration = configuration;
    this.#clock = clock;
    this.#versions = new VersionLog(configuration, root, FlowVersionSchema, (version) => version);
    this.#releases = new ReleaseLog(configuration, clock, root);
    this.#businesses = new BusinessCatalogue(configuration, clock);
  }

  close(): void {
    this.#releases.close();
  }

  /** Stores a valid flow as its next version, unless one with the same content is there. */
  async push(flow: Flow, text: string, audit: Audit, expectedNewest?: number): Promise<FlowPushResult> {
    const business = await this.business(flow.name);
    if (business !== undefined && business !== flow.business) return { kind: 'moved', business };
    await this.#businesses.register(flow.business, audit.author);
    const hash = createHash('sha256').update(toBinary(FlowSchema, flow)).digest();
    const pushedAt = timestampFromMs(this.#clock.nowMs());
    const make = (version: number) => create(FlowVersionSchema, { flow, version, text, hash, pushedAt, ...audit });
    return this.#versions.push(flow.name, hash, make, expectedNewest);
  }

  /** In one write, the versions that new runs follow from now on. `expected`: see ReleaseLog. */
  async release(name: string, what: FlowRelease, audit: Audit, expected?: number): Promise<FlowReleaseResult> {
    const newest = await this.#versions.newest(name);
    for (const version of [what.version, ...(what.gray ? [what.gray.version] : [])]) {
      const isKept = version === 0 && version === what.version && newest > 0;
      if (!isKept && (version < 1 || version > newest)) return { kind: 'absent', version, newest };
    }
    if (what.version === 0 && !(await this.#releases.current(name))) return { kind: 'nothing to keep' };
    const content = (current: Release | undefined) => {
      return { version: what.version || (current?.version ?? 0), ...(what.gray && { gray: what.gray }) };
    };
    return this.#releases.release(name, content, audit, expected);
  }

  /** Brings an earlier release back, in one write. `toRelease` 0: the one before what is in use. */
  rollback(name: string, toRelease: number, audit: Audit, expected?: number): Promise<Released> {
    return this.#releases.rollback(name, toRelease, audit, expected);
  }

  /** A version as it was pushed. */
  get(name: string, version: number): Promise<FlowVersion | undefined> {
    return this.#versions.get(name, version);
  }

  /** The newest version of a flow; 0 when there is none. */
  newest(name: string): Promise<number> {
    return this.#versions.newest(name);
  }

  /** The present release of a flow; undefined when there is none. */
  currentRelease(name: string): Promise<Release | undefined> {
    return this.#releases.current(name);
  }

  /** The releases of a flow that are kept, the newest first. */
  releases(name: string): Promise<readonly Release[]> {
    return this.#releases.history(name);
  }

  /** The business line that a flow belongs to; undefined when there is no such flow. */
  async business(name: string): Promise<string | undefined> {
    return (await this.#versions.get(name, 1))?.flow?.business;
  }

  /** All flows with their business lines. */
  async owners(): Promise<ReadonlyMap<string, string>> {
    const names = await this.#configuration.children(root);
    return new Map(await Promise.all(names.map(async (name) => [name, (await this.business(name)) ?? ''] as const)));
  }

  async list(): Promise<FlowSummary[]> {
    const summaries: FlowSummary[] = [];
    for (const [name, business] of await this.owners()) {
      const newest = await this.newest(name);
      summaries.push({ name, business, newest, release: await this.currentRelease(name) });
    }
    return summaries;
  }

  /** The plan that a new run of an item follows; undefined when no version is released. */
  async released(name: string, item: ReleasedItem): Promise<Plan | undefined> {
    const release = await this.#releases.current(name);
    if (!release) return undefined;
    const gray = this.#grayOf(name, release);
    return this.pinned(name, gray && takesGray(gray, item) ? gray.version : release.version);
  }

  /** The plan of a version; undefined when it doesn't exist. */
  async pinned(name: string, version: number): Promise<Plan | undefined> {
    const key = `${name}/${version}`;
    const known = this.#plans.get(key);
    if (known) return known;
    const stored = await this.get(name, version);
    if (!stored?.flow) return undefined;
    const plan = compileFlow(stored.flow, version);
    if (this.#plans.size >= maxPlans) {
      const [oldest] = this.#plans.keys();
      if (oldest !== undefined) this.#plans.delete(oldest);
    }
    this.#plans.set(key, plan);
    return plan;
  }

  #grayOf(name: string, release: Release): GrayChoice | undefined {
    if (!release.gray) return undefined;
    const known = this.#grays.get(release);
    if (known) return known;
    const choice = compileGray(name, release.gray);
    this.#grays.set(release, choice);
    return choice;
  }
}
