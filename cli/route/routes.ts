// The commands of `weir route` that ask an engine.

import { Routes } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { authorOf } from '../author.ts';
import { askEngine, callOptions } from '../engine.ts';
import { usageFailure } from '../failure.ts';
import type { PushOptions } from '../flow/flows.ts';
import { type AuditOptions, auditOf } from '../flow/release.ts';
import { printProblem } from '../flow-file.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { printReleases, releaseObject } from '../output/releases.ts';
import { table } from '../output/table.ts';
import { printedTime } from '../output/text.ts';
import { readRouteFile } from './route-file.ts';

export async function pushRoutes(
  path: string,
  { release = false, expect, author, comment }: PushOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  const { text, table: routes } = readRouteFile(path);
  const expected = expect === undefined ? {} : { expectedVersion: expect };
  const { problems, version, created } = await askEngine(Routes, address, (client) =>
    client.push({ text, release, author: authorOf(author), comment, ...expected }, callOptions),
  );
  // Whether the flows exist is what only the engine knows.
  if (problems.length > 0) {
    const printed = problems.map((problem) => printProblem({ file: path, ...problem }));
    throw usageFailure(`nothing was stored\n${printed.join('\n')}`);
  }
  const { business } = routes;
  if (printer.json) return printer.line(toJson({ business, version, created, released: release }));
  const how = created ? 'stored' : 'there already';
  printer.line(`routes of ${business} version ${version}: ${how}${release ? ', released' : ''}`);
}

export async function releaseRoutes(
  business: string,
  version: number,
  audit: AuditOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  const { release, previousVersion } = await askEngine(Routes, address, (routes) =>
    routes.release({ business, version, ...auditOf(audit) }, callOptions),
  );
  if (printer.json) return printer.line(toJson({ business, previousVersion, ...(release && releaseObject(release)) }));
  const before = previousVersion === 0 ? 'none before' : `version ${previousVersion} before`;
  printer.line(`routes of ${business} version ${version}: released, ${before}`);
}

export async function rollbackRoutes(
  business: string,
  { to = 0, ...audit }: AuditOptions & { readonly to?: number },
  address: string,
  printer: Printer,
): Promise<void> {
  const { release } = await askEngine(Routes, address, (routes) =>
    routes.rollback({ business, toRelease: to, ...auditOf(audit) }, callOptions),
  );
  if (!release) return;
  if (printer.json) return printer.line(toJson({ business, ...releaseObject(release) }));
  printer.line(`routes of ${business} version ${release.version}: released again, as in release ${release.restores}`);
}

export async function listRouteReleases(business: string, address: string, printer: Printer): Promise<void> {
  const { releases } = await askEngine(Routes, address, (routes) => routes.listReleases({ business }, callOptions));
  printReleases(releases, printer);
}

export async function listRoutes(address: string, printer: Printer): Promise<void> {
  const { routes } = await askEngine(Routes, address, (client) => client.list({}, callOptions));
  if (printer.json) {
    for (const { business, newestVersion, releasedVersion, releaseNumber } of routes) {
      printer.line(toJson({ business, newestVersion, releasedVersion, releaseNumber }));
    }
    return;
  }
  const rows = routes.map(({ business, newestVersion, releasedVersion, releaseNumber }) => {
    return [business, newestVersion, releasedVersion === 0 ? 'none' : String(releasedVersion), releaseNumber];
  });
  printer.line(table(['BUSINESS', 'NEWEST', 'RELEASED', 'RELEASE'], rows));
}

/** Prints the text as it was pushed, so that it can be written back into a file. */
export async function showRoutes(
  business: string,
  version: number | undefined,
  address: string,
  printer: Printer,
): Promise<void> {
  const { routes } = await askEngine(Routes, address, (client) =>
    client.get({ business, version: version ?? 0 }, callOptions),
  );
  const text = routes?.text ?? '';
  if (!printer.json) return printer.line(text.endsWith('\n') ? text.slice(0, -1) : text);
  const hash = Buffer.from(routes?.hash ?? []).toString('hex');
  const { author, comment } = routes ?? {};
  const pushedAt = printedTime(routes?.pushedAt);
  printer.line(toJson({ business, version: routes?.version, hash, pushedAt, author, comment, text }));
}
