// A step that chooses the steps after it.

import { create } from '@bufbuild/protobuf';
import { NoMatch, type Switch, SwitchSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import type { Report } from '../problem.ts';
import { type Members, readExpression, readItems, readMembers, readNames, readWord, requireKeys } from '../reader.ts';

export const switchKeys = ['switch', 'otherwise', 'no_match'] as const;
export const caseKeys = ['when', 'then'] as const;

/** `fail` is the default. */
export const noMatchWords: ReadonlyMap<string, NoMatch> = new Map([
  ['pass', NoMatch.PASS],
  ['fail', NoMatch.FAIL],
]);

export function readSwitch(report: Report, members: Members<(typeof switchKeys)[number]>): Switch {
  const word = members.no_match && readWord(report, members.no_match, noMatchWords, 'no_match');
  if (members.no_match && members.otherwise) {
    report('references.no-match', members.no_match.path, 'no_match and otherwise say the same thing twice; keep one');
  }
  return create(SwitchSchema, {
    cases: readItems(report, members.switch, 'cases').map((item) => {
      const each = readMembers(report, item, caseKeys, 'a case');
      requireKeys(report, item, each, caseKeys, 'a case');
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
      return { when: readExpression(report, each.when), then: readNames(report, each.then, 'step ids') };
    }),
    otherwise: readNames(report, members.otherwise, 'step ids'),
    noMatch: members.otherwise ? NoMatch.OTHERWISE : (word ?? NoMatch.FAIL),
  });
}
