// What a step waits for, as commands print it.

import type { Waiting } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { printedTime } from '../output/text.ts';
import { printRun } from '../run-argument.ts';

/** `signal approved until 2026-01-31T08:00:00.000Z` */
export function waitingText({ what, until }: Waiting): string {
  const time = until ? ` until ${printedTime(until)}` : '';
  switch (what.case) {
    case 'child':
      return `${printRun(what.value)}${time}`;
    case 'signal':
      return `signal ${what.value}${time}`;
    case 'token':
      return `the answer to ${what.value}${time}`;
    case 'branches': {
      const { all, done, failed } = what.value;
      return `its branches: ${done} of ${all} done${failed === 0 ? '' : `, ${failed} failed`}`;
    }
    case undefined:
      return 'something that this version does not know';
  }
}

export function waitingObject({ what, until }: Waiting) {
  const time = until && { until: printedTime(until) };
  switch (what.case) {
    case 'child':
      return { run: printRun(what.value), ...time };
    case 'signal':
      return { signal: what.value, ...time };
    case 'token':
      return { token: what.value, ...time };
    case 'branches': {
      const { all, done, failed } = what.value;
      return { branches: { all, done, failed } };
    }
    case undefined:
      return {};
  }
}
