// A step that computes fields inside the engine.

import { create } from '@bufbuild/protobuf';
import { type Inline, InlineSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { childPath, type Report } from '../problem.ts';
import { type Members, readExpression, readMap } from '../reader.ts';

export const inlineKeys = ['inline'] as const;

export function readInline(report: Report, { inline: located }: Members<(typeof inlineKeys)[number]>): Inline {
  const map = located && readMap(report, located, 'inline');
  return create(InlineSchema, {
    set: [...(map?.entries ?? [])].map(([field, { value }]) => ({
      field,
      expression: readExpression(report, { node: value, path: childPath(located?.path ?? '', field) }),
    })),
  });
}
