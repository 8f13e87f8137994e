// Declared fields, and who writes a field.

import { FieldType } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { decodeText, fieldTypeName, fieldTypeNames } from '../../field-type.ts';
import { writtenBy } from '../../graph.ts';
import { didYouMean } from '../../nearest-name.ts';
import { flowLimits } from '../limits.ts';
import { childPath, quoted, type Report } from '../problem.ts';
import { type FlowView, fieldPath, type RuleGroup, stepPath } from './view.ts';

export const fields: RuleGroup = (view, report) => {
  for (const { name, type, default: text } of view.flow.fields) {
    if (type === FieldType.UNSPECIFIED) {
      const allowed = [...fieldTypeNames.keys()].join(', ');
      report('shape.word', fieldPath(name), `a field needs a type; allowed are ${allowed}`);
    } else if (text !== undefined && type !== FieldType.BYTES) {
      const decoded = decodeText(type, text);
      if (decoded.kind === 'error') {
        report('fields.default', `${fieldPath(name)}.default`, `${quoted(text)} ${decoded.message}`);
      }
    }
  }
  checkComputed(view, report);
  checkLists(view, report);
  checkWriters(view, report);
};

function checkComputed({ flow, types }: FlowView, report: Report): void {
  for (const step of flow.steps) {
    if (step.kind.case !== 'inline') continue;
    for (const { field } of step.kind.value.set) {
      const path = childPath(`${stepPath(step.id)}.inline`, field);
      const type = types.get(field);
      if (type === undefined) {
        report('fields.computed', path, `${quoted(field)} is not a declared field${didYouMean(field, types.keys())}`);
      } else if (type === FieldType.BYTES) {
        report('fields.computed', path, `${quoted(field)} is declared as bytes, which expressions cannot compute`);
      }
    }
  }
}

/** What stands for an element of a list, and where the results go. */
function checkLists({ flow, types }: FlowView, report: Report): void {
  for (const { id, kind } of flow.steps) {
    if (kind.case !== 'forEach') continue;
    const path = stepPath(id);
    const { as, into, branch } = kind.value;
    const asType = types.get(as);
    if (branch.value?.send.includes(as)) {
      report(
        'fields.element',
        `${path}.as`,
        `${quoted(as)} is sent already; under this name a branch sends its element`,
      );
    } else if (asType !== undefined && asType !== FieldType.STRING && asType !== FieldType.JSON) {
      const message = `${quoted(as)} is declared as ${fieldTypeName(asType)}; an element is a string or json`;
      report('fields.element', `${path}.as`, message);
    }
    const intoType = types.get(into);
    if (intoType === undefined) {
      const message = `${quoted(into)} is not a declared field${didYouMean(into, types.keys())}`;
      report('fields.results', `${path}.into`, message);
    } else if (intoType !== FieldType.JSON) {
      const message = `${quoted(into)} is declared as ${fieldTypeName(intoType)}; the results of a list are json`;
      report('fields.results', `${path}.into`, message);
    }
  }
}

/** A reader takes the nearest writer before it: there is one only if writers stand in a row. */
function checkWriters({ flow, graph }: FlowView, report: Report): void {
  const places = new Map(graph.order.map((id, place) => [id, place]));
  const writers = new Map<string, string[]>();
  for (const step of flow.steps) {
    // On a ring, nothing is before anything: the ring is the problem.
    if (!places.has(step.id)) continue;
    for (const field of new Set(writtenBy(step))) addWriter(writers, field, step.id);
  }
  for (const [field, ids] of writers) {
    const inOrder = ids.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
    const last = inOrder.at(-1) ?? '';
    if (ids.length > flowLimits.maxWriters) {
      const message = `${ids.length} steps write ${quoted(field)}; at most ${flowLimits.maxWriters} are allowed`;
      report('limits.writers', stepPath(last), message);
      continue;
    }
    inOrder.forEach((later, index) => {
      const earlier = inOrder[index - 1];
      if (earlier === undefined || graph.isBefore(earlier, later)) return;
      const message = `${earlier} and ${later} both write ${quoted(field)}, and neither is always before the other`;
      report('fields.writers', stepPath(later), message);
    });
  }
}

function addWriter(writers: Map<string, string[]>, field: string, id: string): void {
  const ids = writers.get(field);
  if (ids) ids.push(id);
  else writers.set(field, [id]);
}
