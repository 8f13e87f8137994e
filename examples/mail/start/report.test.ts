import { describe, expect, it } from 'vitest';
import { type Outcome, report } from './report.ts';
import { countByState, countSettled } from './summary-counts.ts';

const outcome: Outcome = {
  summary: {
    runs: [
      { state: 'SUCCEEDED', reason: '', count: 5_000 },
      { state: 'FAILED', reason: 'exhausted', count: 2 },
      { state: 'FAILED', reason: 'rejected', count: 1 },
      { state: 'OPEN', reason: '', count: 4 },
    ],
    steps: [
      { step: 'parse', module: 'mail.parse', endings: { SUCCEEDED: 5_003, OVERLOADED: 7 }, p50Ms: 1.26, p99Ms: 12 },
      { step: 'publish', module: 'mail.publish', endings: { SUCCEEDED: 9 }, p50Ms: 0.5, p99Ms: 0.9 },
    ],
  },
  runs: [
    { key: 'easy-ham-1/00001', state: 'SUCCEEDED', fields: { label: 'ham', verdict: 'publish' } },
    { key: 'easy-ham-1/00005', state: 'SUCCEEDED', fields: { label: 'ham', verdict: 'quarantine' } },
    { key: 'spam-1/00001', state: 'SUCCEEDED', fields: { label: 'spam', verdict: 'quarantine' } },
    { key: 'spam-1/00002', state: 'FAILED', fields: { label: 'spam' } },
  ],
  alarms: [{ kind: 'RUN_FAILED', message: 'answer for anna@example.com', count: 2 }],
  seconds: 10,
  settledNow: 5_003,
};

describe('report', () => {
  it('says what came of the mails', () => {
    expect(report(outcome)).toBe(
      `
Outcome             mails
SUCCEEDED           5,000
FAILED (exhausted)      2
FAILED (rejected)       1
OPEN                    4

Label against verdict  publish  review  quarantine  none
ham                          1       0           1     0
spam                         0       0           1     1

Of the mails that mail.score had not learned from, it put into quarantine 1 of 1 spam and 0 of 1 ham.

5,003 mails in 10.0 s: 500 items/s

Step     module        calls  p50 ms  p99 ms  other endings
parse    mail.parse    5,010     1.3    12.0  OVERLOADED 7
publish  mail.publish      9     0.5     0.9

Alarms: 1
  RUN_FAILED: answer for a***@e***.com (2)`.slice(1),
    );
  });

  it('says when an earlier start had done everything', () => {
    expect(report({ ...outcome, settledNow: 0 })).toContain('All mails were done already.');
  });
});

describe('countByState, countSettled', () => {
  it('add up reasons and leave out what still moves', () => {
    expect(countByState(outcome.summary)).toEqual({ SUCCEEDED: 5_000, FAILED: 3, OPEN: 4 });
    expect(countSettled(outcome.summary)).toEqual({ runs: 5_007, settled: 5_003 });
    expect(countSettled({ runs: [], steps: [] })).toEqual({ runs: 0, settled: 0 });
  });
});
