// Business lines in the configuration: who answers for flows, routes and items.
//
//   businesses/<name>   weir.flow.v1.Business; its revision is the entry's version
//
// Invariants:
//   B1  A change is a compare-and-set: of two who saw the same revision one succeeds.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Configuration } from '../../platform/coordination/configuration.ts';
import { type Business, BusinessSchema } from '../../proto/gen/weir/flow/v1/businesses_pb.js';

const root = 'businesses';

/** What is to be different; what is absent stays. */
export interface BusinessChange {
  readonly owners?: readonly string[];
  readonly description?: string;
  readonly author: string;
}

export type SetResult =
  | { readonly kind: 'done'; readonly business: Business }
  /** The revision isn't the one the author has seen. */
  | { readonly kind: 'conflict'; readonly current: Business | undefined };

export class BusinessCatalogue {
  readonly #configuration: Configuration;
  readonly #clock: Clock;

  constructor(configuration: Configuration, clock: Clock) {
    this.#configuration = configuration;
    this.#clock = clock;
  }

  async get(name: string): Promise<Business | undefined> {
    const entry = await this.#configuration.get(pathOf(name));
    return entry && create(BusinessSchema, { ...fromBinary(BusinessSchema, entry.value), revision: entry.version });
  }

  /** By name. */
  async list(): Promise<Business[]> {
    const businesses = await Promise.all((await this.#configuration.children(root)).map((name) => this.get(name)));
    return businesses.filter((business) => business !== undefined);
  }

  /** Creates a business line or changes it. `expected` is the revision that the author has seen, 0 for none. */
  async set(name: string, change: BusinessChange, expected?: number): Promise<SetResult> {
    for (;;) {
      const current = await this.get(name);
      const revision = current?.revision ?? 0;
      if (expected !== undefined && expected !== revision) return { kind: 'conflict', current };
      const changedAt = timestampFromMs(this.#clock.nowMs());
      const business = create(BusinessSchema, {
        name,
        owners: [...(change.owners ?? current?.owners ?? [])],
        description: change.description ?? current?.description ?? '',
        createdAt: current?.createdAt ?? changedAt,
        changedAt,
        author: change.author,
      });
      const put = await this.#configuration.put(pathOf(name), toBinary(BusinessSchema, business), revision);
      if (put.kind === 'done') {
        return { kind: 'done', business: create(BusinessSchema, { ...business, revision: put.version }) };
      }
      // Somebody else was first: look again, which ends in a conflict when the author expected a revision.
    }
  }

  /** Makes sure that a business line is there: whoever brings the first flow or routes owns it. */
  async register(name: string, author: string): Promise<void> {
    if (await this.#configuration.get(pathOf(name))) return;
    // A conflict says that it is there now.
    await this.set(name, { owners: author === '' ? [] : [author], author }, 0);
  }
}

function pathOf(name: string): string {
  return `${root}/${name}`;
}
