// The catalogue of flows over the configuration tree: immutable versions, and one pointer per flow to the released one.
//
//   flows/<name>/versions/<n>   weir.flow.v1.FlowVersion, written once
//   flows/<name>/released       the version's number as text
//
// Invariants:
//   C1  Version numbers of a flow begin at 1 and have no gaps: a version is created only where none is (compare-and-set).
//   C2  A release is one write; whoever reads the pointer afterwards reads the new version.

import { createHash } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { compileFlow } from '../flow/compile.ts';
import type { Plan } from '../flow/plan.ts';
import type { Clock } from '../platform/clock/clock.ts';
import type { Configuration } from '../platform/coordination/configuration.ts';
import { type Flow, FlowSchema } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { type FlowVersion, FlowVersionSchema } from '../proto/gen/weir/flow/v1/flows_pb.js';

/** Versions of one flow. A flow that changes more often is generated, and wants one version with parameters in its fields. */
const maxVersions = 10_000;

/** Compiled versions kept in memory: far more than are in use at once; the rest is compiled again when it is needed. */
const maxPlans = 1_000;

export type PushResult =
  | { readonly kind: 'done'; readonly version: number; readonly created: boolean }
  /** The newest version isn't the one the author has seen. */
  | { readonly kind: 'conflict'; readonly newest: number };

export type ReleaseResult =
  | { readonly kind: 'done'; readonly previous: number }
  | { readonly kind: 'absent'; readonly newest: number };

export interface FlowSummary {
  readonly name: string;
  readonly business: string;
  readonly newest: number;
  /** 0 when none is released. */
  readonly released: number;
}

export class FlowCatalogue {
  readonly #configuration: Configuration;
  readonly #clock: Clock;
  /** Versions never change: what was compiled once is right for ever. */
  readonly #plans = new Map<string, Plan>();
  readonly #released = new Map<string, number>();
  /** Rises with each change seen, so that a read that began before it isn't remembered. */
  #changes = 0;
  readonly #unwatch: () => void;

  constructor(configuration: Configuration, clock: Clock) {
    this.#configuration = configuration;
    this.#clock = clock;
    this.#unwatch = configuration.watch('flows', (changed) => {
      const [, name, what] = changed.split('/');
      if (name === undefined || what !== 'released') return;
      this.#changes++;
      this.#released.delete(name);
    });
  }

  close(): void {
    this.#unwatch();
  }

  /** Stores a valid flow as its next version, unless one with the same content is there. */
  async push(flow: Flow, text: string, expectedNewest?: number): Promise<PushResult> {
    const hash = createHash('sha256').update(toBinary(FlowSchema, flow)).digest();
    for (;;) {
      const newest = await this.newest(flow.name);
      if (expectedNewest !== undefined && expectedNewest !== newest) return { kind: 'conflict', newest };
      const same = await this.#withHash(flow.name, newest, hash);
      if (same !== undefined) return { kind: 'done', version: same, created: false };
      const version = newest + 1;
      if (version > maxVersions)
        throw new Error(`flow ${flow.name} has ${newest} versions, ${maxVersions} are allowed`);
      const pushedAt = timestampFromMs(this.#clock.nowMs());
      const message = create(FlowVersionSchema, { flow, version, text, hash, pushedAt });
      const put = await this.#configuration.put(
        versionPath(flow.name, version),
        toBinary(FlowVersionSchema, message),
        0,
      );
      if (put.kind === 'done') return { kind: 'done', version, created: true };
      // Somebody else pushed this number first: look again, which ends in a conflict when the author expected a version.
    }
  }

  async release(name: string, version: number): Promise<ReleaseResult> {
    const newest = await this.newest(name);
    if (version < 1 || version > newest) return { kind: 'absent', newest };
    for (;;) {
      const path = releasedPath(name);
      const before = await this.#configuration.get(path);
      const put = await this.#configuration.put(path, new TextEncoder().encode(String(version)), before?.version ?? 0);
      if (put.kind === 'done') {
        this.#released.delete(name);
        return { kind: 'done', previous: before ? numberOf(before.value) : 0 };
      }
    }
  }

  /** A version as it was pushed. */
  async get(name: string, version: number): Promise<FlowVersion | undefined> {
    const entry = await this.#configuration.get(versionPath(name, version));
    return entry && fromBinary(FlowVersionSchema, entry.value);
  }

  /** The newest version of a flow; 0 when there is none. */
  async newest(name: string): Promise<number> {
    const versions = await this.#configuration.children(`flows/${name}/versions`);
    return versions.reduce((newest, version) => Math.max(newest, Number(version)), 0);
  }

  /** The released version of a flow; 0 when there is none. */
  async releasedVersion(name: string): Promise<number> {
    const known = this.#released.get(name);
    if (known !== undefined) return known;
    const changes = this.#changes;
    const entry = await this.#configuration.get(releasedPath(name));
    const version = entry ? numberOf(entry.value) : 0;
    // Names that don't exist are not remembered: they come from outside, and there is no end of them.
    if (version !== 0 && changes === this.#changes) this.#released.set(name, version);
    return version;
  }

  async list(): Promise<FlowSummary[]> {
    const summaries: FlowSummary[] = [];
    for (const name of await this.#configuration.children('flows')) {
      const newest = await this.newest(name);
      const version = await this.get(name, newest);
      const released = await this.releasedVersion(name);
      summaries.push({ name, business: version?.flow?.business ?? '', newest, released });
    }
    return summaries;
  }

  /** The plan that new runs follow; undefined when no version is released. */
  async released(name: string): Promise<Plan | undefined> {
    const version = await this.releasedVersion(name);
    return version === 0 ? undefined : this.pinned(name, version);
  }

  /** The plan of a version; undefined when it doesn't exist. */
  async pinned(name: string, version: number): Promise<Plan | undefined> {
    const key = versionPath(name, version);
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

  async #withHash(name: string, newest: number, hash: Uint8Array): Promise<number | undefined> {
    for (let version = newest; version > 0; version--) {
      const stored = await this.get(name, version);
      if (stored && Buffer.compare(stored.hash, hash) === 0) return version;
    }
    return undefined;
  }
}

function versionPath(name: string, version: number): string {
  return `flows/${name}/versions/${version}`;
}

function releasedPath(name: string): string {
  return `flows/${name}/released`;
}

function numberOf(value: Uint8Array): number {
  return Number(new TextDecoder().decode(value));
}
