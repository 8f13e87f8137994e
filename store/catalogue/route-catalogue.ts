// The catalogue of routes: one table per business line, versioned and released like flows.
//
//   routes/<business>/versions/<n>   weir.flow.v1.RoutesVersion (version-log.ts)
//   routes/<business>/releases       weir.flow.v1.ReleaseHistory (release-log.ts)
//
// Invariants:
//   T1  What is in use leads only to flows that have a released version: a release checks it, and flows are never withdrawn.

import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type CompiledRoutes, compileRoutes } from '../../flow/routing/choose-flow.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Configuration } from '../../platform/coordination/configuration.ts';
import type { Release } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import {
  type RoutesVersion,
  RoutesVersionSchema,
  type RouteTable,
  RouteTableSchema,
} from '../../proto/gen/weir/flow/v1/routes_pb.js';
import type { Audit } from './audit.ts';
import { BusinessCatalogue } from './business-catalogue.ts';
import type { FlowCatalogue } from './flow-catalogue.ts';
import { type Released, ReleaseLog } from './release-log.ts';
import { type PushResult, VersionLog } from './version-log.ts';

/** Compiled tables kept in memory: one per business line is in use. */
const maxCompiled = 1_000;

const root = 'routes';

export type RoutesReleaseResult =
  | Released
  | { readonly kind: 'absent'; readonly version: number; readonly newest: number }
  /** The table leads to a flow of which no version is released (T1). `path` as in `rules[0].flow`. */
  | { readonly kind: 'unreleased flow'; readonly path: string; readonly flow: string };

export interface RoutesSummary {
  readonly business: string;
  readonly newest: number;
  readonly release: Release | undefined;
}

export class RouteCatalogue {
  readonly #versions: VersionLog<typeof RoutesVersionSchema>;
  readonly #releases: ReleaseLog;
  readonly #flows: FlowCatalogue;
  readonly #businesses: BusinessCatalogue;
  readonly #configuration: Configuration;
  readonly #clock: Clock;
  /** Versions never change: what was compiled once is right for ever. */
  readonly #compiled = new Map<string, CompiledRoutes>();

  constructor(configuration: Configuration, clock: Clock, flows: FlowCatalogue) {
    this.#configuration = configuration;
    this.#clock = clock;
    this.#flows = flows;
    this.#versions = new VersionLog(configuration, root, RoutesVersionSchema, (version) => version);
    this.#releases = new ReleaseLog(configuration, clock, root);
    this.#businesses = new BusinessCatalogue(configuration, clock);
  }

  close(): void {
    this.#releases.close();
  }

  /** Stores a valid table as the next version of its business line, unless one with the same content is there. */
  async push(table: RouteTable, text: string, audit: Audit, expectedNewest?: number): Promise<PushResult> {
    await this.#businesses.register(table.business, audit.author);
    const hash = createHash('sha256').update(toBinary(RouteTableSchema, table)).digest();
    const pushedAt = timestampFromMs(this.#clock.nowMs());
    const make = (version: number) => create(RoutesVersionSchema, { table, version, text, hash, pushedAt, ...audit });
    return this.#versions.push(table.business, hash, make, expectedNewest);
  }

  /** In one write, the table that items are routed by from now on. `expected`: see ReleaseLog. */
  async release(business: string, version: number, audit: Audit, expected?: number): Promise<RoutesReleaseResult> {
    const stored = version < 1 ? undefined : await this.#versions.get(business, version);
    if (!stored?.table) return { kind: 'absent', version, newest: await this.#versions.newest(business) };
    for (const [path, flow] of destinations(stored.table)) {
      if (!(await this.#flows.currentRelease(flow))) return { kind: 'unreleased flow', path, flow };
    }
    return this.#releases.release(business, () => ({ version }), audit, expected);
  }

  /** Brings an earlier release back, in one write. `toRelease` 0: the one before what is in use. */
  rollback(business: string, toRelease: number, audit: Audit, expected?: number): Promise<Released> {
    return this.#releases.rollback(business, toRelease, audit, expected);
  }

  /** A version as it was pushed. */
  get(business: string, version: number): Promise<RoutesVersion | undefined> {
    return this.#versions.get(business, version);
  }

  /** The newest version; 0 when there is none. */
  newest(business: string): Promise<number> {
    return this.#versions.newest(business);
  }

  /** The present release; undefined when there is none. */
  currentRelease(business: string): Promise<Release | undefined> {
    return this.#releases.current(business);
  }

  /** The releases that are kept, the newest first. */
  releases(business: string): Promise<readonly Release[]> {
    return this.#releases.history(business);
  }

  async list(): Promise<RoutesSummary[]> {
    const summaries: RoutesSummary[] = [];
    for (const business of await this.#configuration.children(root)) {
      const newest = await this.newest(business);
      summaries.push({ business, newest, release: await this.currentRelease(business) });
    }
    return summaries;
  }

  /** The routes that items of a business line follow now; undefined when none are released. */
  async released(business: string): Promise<CompiledRoutes | undefined> {
    const release = await this.#releases.current(business);
    if (!release) return undefined;
    const key = `${business}/${release.version}`;
    const known = this.#compiled.get(key);
    if (known) return known;
    const stored = await this.get(business, release.version);
    if (!stored?.table) throw new Error(`routes of ${business}: the released version ${release.version} is not there`);
    const compiled = compileRoutes(stored.table);
    if (this.#compiled.size >= maxCompiled) {
      const [oldest] = this.#compiled.keys();
      if (oldest !== undefined) this.#compiled.delete(oldest);
    }
    this.#compiled.set(key, compiled);
    return compiled;
  }
}

/** Where a table leads: each flow with the first place that names it. */
function destinations({ rules, otherwise }: RouteTable): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  rules.forEach(({ flow }, index) => {
    if (!places.has(flow)) places.set(flow, `rules[${index}].flow`);
  });
  if (otherwise !== '' && !places.has(otherwise)) places.set(otherwise, 'otherwise');
  return new Map([...places].map(([flow, place]) => [place, flow]));
}
