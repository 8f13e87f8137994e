// `weir flow release`, `rollback` and `releases`: which versions new runs follow.

import { InvalidArgumentError } from 'commander';
import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import { authorOf } from '../author.ts';
import { askEngine, callOptions } from '../engine.ts';
import { usageFailure } from '../failure.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { describeGray, printReleases, releaseObject } from '../output/releases.ts';
import { readTextFile } from '../read-file.ts';
import { parseKey } from '../run-argument.ts';

export interface AuditOptions {
  readonly author?: string;
  readonly comment: string;
  /** Number of the release that was seen. */
  readonly expect?: number;
}

export interface ReleaseOptions extends AuditOptions {
  /** In basis points. */
  readonly share?: number;
  readonly businesses?: readonly string[];
  /** File of keys, one a line. */
  readonly keys?: string;
}

/** 1,000 keys of 1,024 bytes in hexadecimal are more than the engine takes. */
const maxKeysBytes = 3_000_000;

/** With a share, business lines or keys, `version` is the gray one, and the released one stays beside it. */
export async function releaseFlow(
  name: string,
  version: number,
  { share = 0, businesses = [], keys: keysFile, ...audit }: ReleaseOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  const keys = keysFile === undefined ? [] : readKeys(keysFile);
  const isGray = share > 0 || businesses.length > 0 || keysFile !== undefined;
  const what = isGray
    ? { version: 0, gray: { version, shareBasisPoints: share, businesses: [...businesses], keys } }
    : { version };
  const { release, previousVersion } = await askEngine(Flows, address, (flows) =>
    flows.release({ name, ...what, ...auditOf(audit) }, callOptions),
  );
  if (printer.json) return printer.line(toJson({ name, previousVersion, ...(release && releaseObject(release)) }));
  if (release?.gray) {
    const rest = `version ${release.version} for the others`;
    return printer.line(`${name} version ${version}: released for ${describeGray(release.gray)}, ${rest}`);
  }
  const before = previousVersion === 0 ? 'none before' : `version ${previousVersion} before`;
  printer.line(`${name} version ${version}: released, ${before}`);
}

export async function rollbackFlow(
  name: string,
  { to = 0, ...audit }: AuditOptions & { readonly to?: number },
  address: string,
  printer: Printer,
): Promise<void> {
  const { release } = await askEngine(Flows, address, (flows) =>
    flows.rollback({ name, toRelease: to, ...auditOf(audit) }, callOptions),
  );
  if (!release) return;
  if (printer.json) return printer.line(toJson({ name, ...releaseObject(release) }));
  const gray = release.gray ? `, and version ${release.gray.version} for ${describeGray(release.gray)}` : '';
  printer.line(`${name} version ${release.version}: released again${gray}, as in release ${release.restores}`);
}

export async function listFlowReleases(name: string, address: string, printer: Printer): Promise<void> {
  const { releases } = await askEngine(Flows, address, (flows) => flows.listReleases({ name }, callOptions));
  printReleases(releases, printer);
}

/** As requests have it. */
export function auditOf({ author, comment, expect }: AuditOptions) {
  return { author: authorOf(author), comment, ...(expect === undefined ? {} : { expectedRelease: expect }) };
}

/** Keys of a file, one a line, in the form in which commands print them. */
function readKeys(path: string): Uint8Array[] {
  const lines = readTextFile('--keys', path, maxKeysBytes).split('\n');
  return lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '') return [];
    try {
      return [parseKey(text)];
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw usageFailure(`--keys: ${path}:${index + 1}: ${error.message}`, error);
    }
  });
}
