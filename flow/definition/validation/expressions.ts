// The expressions of a flow: each is compiled, as it will be when the flow runs.

import { FieldType } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { compileExpression } from '../../expression.ts';
import { childPath } from '../problem.ts';
import { type RuleGroup, stepPath } from './view.ts';

export const expressions: RuleGroup = ({ flow, types }, report) => {
  const check = (path: string, source: string, wanted: FieldType | undefined): void => {
    const compiled = compileExpression(source, types, wanted);
    if (compiled.kind === 'invalid') report('expressions.valid', path, compiled.message);
  };
  for (const step of flow.steps) {
    const path = stepPath(step.id);
    if (step.when !== '') check(`${path}.when`, step.when, FieldType.BOOL);
    if (step.kind.case === 'switch') {
      step.kind.value.cases.forEach(({ when }, index) => check(`${path}.switch[${index}].when`, when, FieldType.BOOL));
    }
    if (step.kind.case === 'inline') {
      for (const { field, expression } of step.kind.value.set) {
        const type = types.get(field);
        const isComputable = type !== undefined && type !== FieldType.BYTES && type !== FieldType.UNSPECIFIED;
        // A field that can't be computed is a problem of its own.
        check(childPath(`${path}.inline`, field), expression, isComputable ? type : undefined);
      }
    }
  }
};
