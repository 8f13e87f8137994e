// The expressions of a flow: each is compiled, as it will be when the flow runs.

import { FieldType } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { compileExpression, type Wanted } from '../../expression.ts';
import { childPath } from '../problem.ts';
import { type RuleGroup, stepPath } from './view.ts';

export const expressions: RuleGroup = ({ flow, types }, report) => {
  const check = (path: string, source: string, wanted: Wanted | undefined): void => {
    const compiled = compileExpression(source, types, wanted);
    if (compiled.kind === 'invalid') report('expressions.valid', path, compiled.message);
  };
  for (const { id, when, kind } of flow.steps) {
    const path = stepPath(id);
    if (when !== '') check(`${path}.when`, when, FieldType.BOOL);
    if (kind.case === 'switch') {
      kind.value.cases.forEach((each, index) => check(`${path}.switch[${index}].when`, each.when, FieldType.BOOL));
    }
    if (kind.case === 'inline') {
      for (const { field, expression } of kind.value.set) {
        const type = types.get(field);
        const isComputable = type !== undefined && type !== FieldType.BYTES && type !== FieldType.UNSPECIFIED;
        // A field that can't be computed is a problem of its own.
        check(childPath(`${path}.inline`, field), expression, isComputable ? type : undefined);
      }
    }
    if (kind.case === 'wait' && kind.value.what.case === 'until') {
      check(`${path}.wait.until`, kind.value.what.value, 'time');
    }
    if (kind.case === 'forEach') check(`${path}.for_each`, kind.value.over, 'list');
  }
};
