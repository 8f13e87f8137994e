// Errors that reach the last resort of a process are bugs, except for what a store that doesn't answer makes of a read.

import type { MakeChecker } from './checker.ts';

export const noBugs: MakeChecker = (_evidence, report) => ({
  see(record) {
    if (record.kind !== 'error' || record.message.endsWith('the store did not answer')) return;
    report(`${record.process}, ${record.doing}: ${record.message}`);
  },
});
