// The commands of `weir business`.

import { type Business, Businesses } from '../../proto/gen/weir/flow/v1/businesses_pb.js';
import { authorOf } from '../author.ts';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { table } from '../output/table.ts';
import { printedTime } from '../output/text.ts';

export interface SetOptions {
  readonly owners?: readonly string[];
  readonly description?: string;
  /** The revision that was seen. */
  readonly expect?: number;
  readonly author?: string;
}

export async function setBusiness(
  name: string,
  { owners, description, expect, author }: SetOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  const change = {
    ...(owners && { owners: { names: [...owners] } }),
    ...(description !== undefined && { description }),
    ...(expect !== undefined && { expectedRevision: expect }),
  };
  const { business } = await askEngine(Businesses, address, (businesses) =>
    businesses.set({ name, author: authorOf(author), ...change }, callOptions),
  );
  if (!business) return;
  if (printer.json) return printer.line(toJson(businessObject(business)));
  const how = business.revision === 1 ? 'created' : `changed, revision ${business.revision}`;
  printer.line(`${name}: ${how}, owners: ${business.owners.join(', ') || 'none'}`);
}

export async function listBusinesses(address: string, printer: Printer): Promise<void> {
  const { businesses } = await askEngine(Businesses, address, (client) => client.list({}, callOptions));
  if (printer.json) {
    for (const business of businesses) printer.line(toJson(businessObject(business)));
    return;
  }
  const rows = businesses.map(({ name, owners, revision, description }) => {
    return [name, owners.join(', ') || 'none', revision, description];
  });
  printer.line(table(['BUSINESS', 'OWNERS', 'REVISION', 'DESCRIPTION'], rows));
}

function businessObject({ name, owners, description, createdAt, changedAt, author, revision }: Business) {
  return {
    ...{ name, owners, description },
    ...{ createdAt: printedTime(createdAt), changedAt: printedTime(changedAt), author, revision },
  };
}
