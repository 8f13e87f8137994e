// Ends a vitest run with one line that machines can read: `N passed, N failed`, and `, N skipped` when there are any.
// What keeps tests from running fails too: a file that does not load, a hook that throws, an unhandled error.

import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

const stdoutFd = 1;

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<SerializedError>): void {
    let passed = 0;
    let skipped = 0;
    let failed = unhandledErrors.length;

    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'skipped') skipped++;
        // A test still pending at the end never came back.
        else failed++;
      }
    }

    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
    // On exit, so that nothing vitest says while closing comes after it.
    process.once('exit', () => writeSync(stdoutFd, line));
  }
}
