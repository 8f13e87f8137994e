// Joins: how many of the steps before them must be done. One that waits for nothing would pass at once.

import { Losers } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { type RuleGroup, stepPath } from './view.ts';

export const joins: RuleGroup = ({ flow }, report) => {
  for (const { id, after, kind } of flow.steps) {
    if (kind.case !== 'join') continue;
    const path = stepPath(id);
    const { need, losers } = kind.value;
    const least = need === 0 ? 1 : 2;
    if (after.length < least) {
      const message = `a join that needs ${need === 0 ? 'all' : need} waits for at least ${least}, found ${after.length}`;
      report('graph.join-steps', `${path}.after`, message);
    } else if (need > after.length) {
      const message = `found ${need}; the join waits for ${after.length} steps`;
      report('graph.join-need', `${path}.join.need`, message);
    } else if (losers === Losers.CANCEL && (need === 0 || need === after.length)) {
      report('graph.join-losers', `${path}.join.losers`, 'a join that needs all its steps has none to cancel');
    }
    if (losers === Losers.UNSPECIFIED) {
      report('shape.word', `${path}.join.losers`, 'a join says what becomes of the losers: wait, cancel');
    }
  }
};
