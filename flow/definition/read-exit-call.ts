// Calls that are made when a run ends.

import { create } from '@bufbuild/protobuf';
import { type ExitCall, ExitCallSchema, ExitState } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { isAddress } from './address.ts';
import { flowLimits } from './limits.ts';
import { quoted, type Report } from './problem.ts';
import { type Located, oneKeyOf, readItems, readMembers, readText, readWord, requireKeys } from './reader.ts';
import { callOptionKeys, readCall, readModule } from './steps/call.ts';

/** What is called: a module, or whoever listens at an address. */
const exitTargets = ['call', 'url'] as const;
export const exitKeys = ['when', ...exitTargets, ...callOptionKeys.filter((key) => key !== 'receive')] as const;

/** Stands where an address was reported, so that nothing more is found wrong with it. */
const unreadAddress = 'https://unread';

export const exitStates: ReadonlyMap<string, ExitState> = new Map([
  ['SUCCEEDED', ExitState.SUCCEEDED],
  ['FAILED', ExitState.FAILED],
  ['CANCELLED', ExitState.CANCELLED],
]);

export function readExitCall(report: Report, located: Located): ExitCall {
  const members = readMembers(report, located, exitKeys, 'an exit call');
  requireKeys(report, located, members, ['when'], 'an exit call');
  const target = oneKeyOf(report, located, exitTargets, 'an exit call');
  const when = readItems(report, members.when, 'states').map(
    (item) => readWord(report, item, exitStates, 'a state in which a run ends') ?? ExitState.UNSPECIFIED,
  );
  const module = readTarget(report, target, target && members[target]);
  return create(ExitCallSchema, {
    when,
    call: readCall(report, module, members, BigInt(flowLimits.maxDeadlineMs)),
  });
}

/** A stored call has one place for modules and addresses, so that here is where each must stand under its own key. */
function readTarget(
  report: Report,
  target: (typeof exitTargets)[number] | undefined,
  located: Located | undefined,
): string {
  if (!located) return '';
  if (target === 'call') {
    const module = readModule(report, located);
    if (!isAddress(module)) return module;
    report('names.module', located.path, 'a module is called by its name; an address stands under the key url');
    return '';
  }
  const address = readText(report, located, 'an address');
  if (address !== undefined && isAddress(address)) return address;
  if (address !== undefined) {
    report('names.url', located.path, `an address begins with http:// or https://, found ${quoted(address)}`);
  }
  return unreadAddress;
}
