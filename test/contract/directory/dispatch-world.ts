// Dispatches, as far as they know modules: each with a server of its own, all on one directory of endpoints.

import { type OpenedDirectory, openDirectory } from '../../../dispatch/directory/open-directory.ts';
import { readDirectory } from '../../../dispatch/modules/configuration.ts';
import type { CallOutcome, ModuleCall } from '../../../dispatch/modules/port.ts';
import { directoryService } from '../../../dispatch/services/directory.ts';
import { systemClock } from '../../../platform/clock/system-clock.ts';
import type { EndpointDirectory } from '../../../platform/coordination/endpoint-directory.ts';
import { randomIds } from '../../../platform/ids/random-ids.ts';
import { startServer } from '../../../platform/rpc/server.ts';

/** Milliseconds for what happens soon, on a machine that is busy. */
const deadlineMs = 20_000;
/** Milliseconds between two looks. */
const lookMs = 5;

export interface KnowingDispatch extends OpenedDirectory {
  readonly address: string;
  readonly warned: readonly string[];
  readonly errors: readonly unknown[];
  call(this: void, module: string): Promise<CallOutcome>;
  /** As when the process is told to stop. */
  stop(this: void, graceMs: number): Promise<void>;
}

/** `text`: its module directory. */
export async function startDispatch(
  text: string,
  directory: EndpointDirectory,
  { unit = '', address = '127.0.0.1:0' } = {},
): Promise<KnowingDispatch> {
  const reading = readDirectory(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const warned: string[] = [];
  const errors: unknown[] = [];
  const opened = openDirectory(reading.value, {
    ...{ clock: systemClock, random: Math.random, ids: randomIds(), directory, unit },
    warn: (message) => warned.push(message),
    onError: (error) => errors.push(error),
  });
  const server = await startServer({
    address,
    services: [directoryService(() => opened.modules.view(), opened.registrations)],
    onError: (error) => errors.push(error),
  });
  server.health.set(true);
  return {
    ...opened,
    ...{ address: `127.0.0.1:${server.port}`, warned, errors },
    call: (module) => new Promise((resolve) => opened.modules.call(callOf(module), resolve)),
    stop: async (graceMs) => {
      await server.stop(graceMs);
      opened.close();
    },
  };
}

function callOf(module: string): ModuleCall {
  return {
    ...{ kind: 'call', isSuspect: false, step: 'step', callKey: 'key', module, round: 1, attempt: 1 },
    ...{ timeoutMs: 30_000, deadlineMs: systemClock.nowMs() + 60_000, fields: [], rowkey: Buffer.from('key') },
    ...{ business: 'test', flow: 'flow', level: 5, epoch: 1 },
  };
}

/** Resolves when something has become so. */
export async function becomes(what: string, isSo: () => boolean): Promise<void> {
  const endMs = systemClock.monotonicMs() + deadlineMs;
  while (!isSo()) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`within ${deadlineMs} ms it has not become so: ${what}`);
    await new Promise<void>((resolve) => systemClock.after(lookMs, resolve));
  }
}

/** What a dispatch knows of a module: `address health`, and what is special. */
export function known({ modules }: OpenedDirectory, name: string): readonly string[] {
  const module = modules.view().find((each) => each.name === name);
  return (module?.endpoints ?? []).map(({ address, draining }) => (draining ? `${address} draining` : address));
}
