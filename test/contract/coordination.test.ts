import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { InProcessEndpointDirectory } from '../../platform/coordination/in-process-endpoint-directory.ts';
import { InProcessMembership } from '../../platform/coordination/in-process-membership.ts';
import { InProcessRunLocks } from '../../platform/coordination/in-process-run-locks.ts';
import { MemoryConfiguration } from '../../platform/coordination/memory-configuration.ts';
import { SqliteConfiguration } from '../../platform/coordination/sqlite-configuration.ts';
import {
  configurationContract,
  endpointDirectoryContract,
  membershipContract,
  runLocksContract,
} from './coordination.contract.ts';

membershipContract('in process', 'gone for ever', () => {
  const clock = new ManualClock();
  return { subject: new InProcessMembership(clock), pass: (durationMs) => clock.advance(durationMs) };
});

runLocksContract('in process', () => {
  const clock = new ManualClock();
  return { subject: new InProcessRunLocks(clock), pass: (durationMs) => clock.advance(durationMs) };
});

endpointDirectoryContract('in process', () => ({ subject: new InProcessEndpointDirectory() }));

configurationContract('memory', () => ({ subject: new MemoryConfiguration() }));

configurationContract('sqlite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-configuration-'));
  const subject = new SqliteConfiguration(join(folder, 'configuration.db'));
  return {
    subject,
    close: () => {
      subject.close();
      rmSync(folder, { recursive: true });
    },
  };
});

it('in-process run locks are bounded, and room is made by what is over', async () => {
  const clock = new ManualClock();
  const locks = new InProcessRunLocks(clock, 3);
  for (const run of ['a', 'b', 'c']) await locks.acquire(run, 'me', 1_000);
  expect(await locks.acquire('d', 'me', 1_000)).toEqual({ kind: 'unavailable' });
  expect(await locks.acquire('a', 'me', 1_000)).toEqual({ kind: 'acquired' });
  await clock.advance(1_000);
  expect(await locks.acquire('d', 'me', 1_000)).toEqual({ kind: 'acquired' });
});

it('sqlite configuration is there after it was closed and opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-configuration-'));
  try {
    const first = new SqliteConfiguration(join(folder, 'configuration.db'));
    await first.put('flows/a', new Uint8Array([1]), 0);
    first.close();
    const second = new SqliteConfiguration(join(folder, 'configuration.db'));
    expect(await second.get('flows/a')).toEqual({ value: new Uint8Array([1]), version: 1 });
    second.close();
    expect(() => new SqliteConfiguration(folder)).toThrow(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
