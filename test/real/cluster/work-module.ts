// The module of these tests, in the process of the test: it can be told to hold its answers back.

import { serveModule } from '@weir/module';
import { moduleName } from './work-flow.ts';

export interface Call {
  readonly key: string;
  /** Of the clock of the test, performance.now(). */
  readonly atMs: number;
}

export interface WorkModule {
  readonly address: string;
  /** In the order in which they came. */
  readonly calls: readonly Call[];
  /** Calls that come from now on wait. */
  hold(): void;
  /** Those that wait are answered, and those that come. */
  letGo(): void;
  stop(): Promise<void>;
}

/** Answers `text` in capitals. */
export async function serveWork(address: string): Promise<WorkModule> {
  const calls: Call[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const served = await serveModule(
    {
      name: moduleName,
      input: { text: 'string' },
      output: { upper: 'string' },
      process: async ({ fields, call }) => {
        calls.push({ key: Buffer.from(call.rowkey).toString(), atMs: performance.now() });
        await gate.promise;
        return { upper: fields.text.toUpperCase() };
      },
    },
    // More than the dispatches of a test hold together.
    { address, handleSignals: false, concurrency: 5_000, graceMs: 0, register: false },
  );
  return {
    address: served.address,
    calls,
    hold: () => {
      gate = Promise.withResolvers();
    },
    letGo: () => gate.resolve(),
    async stop() {
      gate.resolve();
      await served.stop();
    },
  };
}
