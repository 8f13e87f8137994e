// Time went on. Deadlines are looked at after every event (advance.ts), so only sleepers are left to wake.

import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import { wakeSleepers } from '../wake.ts';

export function ticked(draft: Draft): void {
  const { state } = draft.status;
  if (state === State.OPEN || state === State.ENDING) wakeSleepers(draft);
}
