// A step that starts a run of another flow and goes on.

import { create } from '@bufbuild/protobuf';
import { type StartFlow, StartFlowSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowDefaults } from '../limits.ts';
import type { Report } from '../problem.ts';
import { type Members, readCount, readNames, readText } from '../reader.ts';

export const startFlowKeys = ['start_flow', 'send', 'max_generations'] as const;

export function readStartFlow(report: Report, members: Members<(typeof startFlowKeys)[number]>): StartFlow {
  return create(StartFlowSchema, {
    flow: (members.start_flow && readText(report, members.start_flow, 'the name of a flow')) ?? '',
    send: readNames(report, members.send, 'field names'),
    maxGenerations: readCount(report, members.max_generations, flowDefaults.maxGenerations),
  });
}
