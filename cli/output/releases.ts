// Releases as people read them.

import type { Gray, Release } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { type Printer, toJson } from './printer.ts';
import { table } from './table.ts';
import { count, printedBytes, printedTime } from './text.ts';

/** `10% of the items, business line b, 3 keys` */
export function describeGray({ shareBasisPoints, businesses, keys }: Gray): string {
  const parts = [
    ...(shareBasisPoints > 0 ? [`${shareBasisPoints / 100}% of the items`] : []),
    ...businesses.map((business) => `business line ${business}`),
    ...(keys.length > 0 ? [keys.length === 1 ? '1 key' : `${count(keys.length)} keys`] : []),
  ];
  return parts.join(', ');
}

/** A release for programs. */
export function releaseObject({ number, version, gray, releasedAt, author, comment, restores }: Release) {
  return {
    ...{ number, version },
    ...(gray && {
      gray: {
        ...{ version: gray.version, shareBasisPoints: gray.shareBasisPoints, businesses: gray.businesses },
        keys: gray.keys.map(printedBytes),
      },
    }),
    ...{ releasedAt: printedTime(releasedAt), author, comment },
    ...(restores > 0 && { restores }),
  };
}

export function printReleases(releases: readonly Release[], printer: Printer): void {
  if (printer.json) {
    for (const release of releases) printer.line(toJson(releaseObject(release)));
    return;
  }
  const rows = releases.map(({ number, version, gray, releasedAt, author, comment, restores }) => {
    const what = gray ? `${version}, and ${gray.version} for ${describeGray(gray)}` : String(version);
    const back = restores > 0 ? [`back to release ${restores}`] : [];
    const why = [...back, ...(comment === '' ? [] : [comment])].join('; ');
    return [number, what, printedTime(releasedAt) ?? '', author, why];
  });
  printer.line(table(['RELEASE', 'VERSION', 'SINCE', 'AUTHOR', 'COMMENT'], rows));
}
