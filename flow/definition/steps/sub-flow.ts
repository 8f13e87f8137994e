// A step that runs another flow and waits for its end. Branches of a list are written with the same keys.

import { create } from '@bufbuild/protobuf';
import { type SubFlow, SubFlowSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import type { Report } from '../problem.ts';
import { type Members, readCount, readNames, readText } from '../reader.ts';

export const subFlowKeys = ['sub_flow', 'version', 'send', 'receive'] as const;

export function readSubFlow(report: Report, members: Members<(typeof subFlowKeys)[number]>): SubFlow {
  return create(SubFlowSchema, {
    flow: (members.sub_flow && readText(report, members.sub_flow, 'the name of a flow')) ?? '',
    send: readNames(report, members.send, 'field names'),
    receive: readNames(report, members.receive, 'field names'),
    // Fixed when the flow is published, where its author leaves it open.
    version: readCount(report, members.version, 0, 1),
  });
}
