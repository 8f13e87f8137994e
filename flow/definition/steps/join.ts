// A step that goes on when enough of the steps before it are done.

import { create } from '@bufbuild/protobuf';
import { type Join, JoinSchema, Losers } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import type { Report } from '../problem.ts';
import { type Members, readCountOrWord, readMembers, readWord } from '../reader.ts';

export const joinKeys = ['join'] as const;
export const joinMemberKeys = ['need', 'losers'] as const;

/** What stands for a number of steps. The first is the default. */
export const needWords: ReadonlyMap<string, number> = new Map([
  ['all', 0],
  ['any', 1],
]);

/** The first is the default. */
export const losersWords: ReadonlyMap<string, Losers> = new Map([
  ['wait', Losers.WAIT],
  ['cancel', Losers.CANCEL],
]);

export function readJoin(report: Report, { join }: Members<(typeof joinKeys)[number]>): Join {
  const members = join ? readMembers(report, join, joinMemberKeys, 'join') : {};
  const losers = members.losers && readWord(report, members.losers, losersWords, 'losers');
  return create(JoinSchema, {
    need: readCountOrWord(report, members.need, 0, needWords, 1),
    losers: losers ?? Losers.WAIT,
  });
}
