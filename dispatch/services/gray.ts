// Checks the gray part of a release that came from outside.

import { didYouMean } from '../../flow/nearest-name.ts';
import { wholeBasisPoints } from '../../flow/routing/gray.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Gray } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { count, keyProblem } from './names.ts';

const grayLimits = {
  maxBusinesses: 100,
  maxKeys: 1_000,
  /** Of all keys together: the release is one entry of the configuration, and so are those before it. */
  maxKeyBytes: 100_000,
} as const;

/** Throws INVALID_ARGUMENT. `known` are the business lines that there are; `stable` is the version beside it. */
export function checkGray(gray: Gray, stable: number, known: ReadonlySet<string>): void {
  const { version, shareBasisPoints, businesses, keys } = gray;
  const { maxBusinesses, maxKeys, maxKeyBytes } = grayLimits;
  if (version === stable) throw refused('version', `${version} is the stable version already; a gray one is another`);
  if (shareBasisPoints > wholeBasisPoints) {
    throw refused('share_basis_points', `found ${count(shareBasisPoints)}, at most 10,000 (all items) are allowed`);
  }
  if (shareBasisPoints === 0 && businesses.length === 0 && keys.length === 0) {
    throw refused('share_basis_points', 'is 0, and no business lines or keys are named: no item would be taken');
  }
  if (businesses.length > maxBusinesses) throw refused('businesses', tooMany(businesses.length, maxBusinesses));
  for (const [index, business] of businesses.entries()) {
    if (known.has(business)) continue;
    const message = `there is no business line ${JSON.stringify(business)}${didYouMean(business, known)}`;
    throw refused(`businesses[${index}]`, message);
  }
  if (keys.length > maxKeys) throw refused('keys', tooMany(keys.length, maxKeys));
  for (const [index, key] of keys.entries()) {
    const problem = keyProblem(key);
    if (problem !== undefined) throw refused(`keys[${index}]`, problem);
  }
  const keyBytes = keys.reduce((sum, key) => sum + key.length, 0);
  if (keyBytes > maxKeyBytes) {
    throw refused('keys', `found ${count(keyBytes)} bytes, at most ${count(maxKeyBytes)} are allowed together`);
  }
}

function tooMany(found: number, most: number): string {
  return `found ${count(found)}, at most ${count(most)} are allowed`;
}

function refused(field: string, message: string): RpcError {
  return new RpcError(Code.INVALID_ARGUMENT, `gray.${field}: ${message}`);
}
