import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default', './scripts/summary-reporter.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{flow,platform,store,spout,dispatch,portal,cli,workers,examples,scripts}/**/*.test.ts'],
        },
      },
      { test: { name: 'golden', include: ['test/golden/**/*.test.ts'] } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'] } },
      { test: { name: 'sim', include: ['test/sim/**/*.test.ts'] } },
      {
        // Real services are started and killed: slow, and one at a time, so that they do not starve each other.
        test: {
          name: 'real',
          include: ['test/real/**/*.test.ts'],
          globalSetup: ['test/real/services/setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
