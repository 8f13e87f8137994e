// Stored values of inbox events as the core knows them.

import type { ChildEndedEvent, CompletedEvent, FieldCell } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Answer, ChildEnd } from '../event.ts';
import type { FieldValue, RunId } from '../run.ts';

export function fieldsOf(cells: Readonly<Record<string, FieldCell>>): ReadonlyMap<string, FieldValue> {
  return new Map(
    Object.entries(cells).map(([name, { value, reference }]) => [
      name,
      reference ? { bytes: value, reference } : { bytes: value },
    ]),
  );
}

export function answerOf({ ending, code, message, fields }: CompletedEvent): Answer {
  return { ending, message, fields: fieldsOf(fields), ...(code === undefined ? {} : { code }) };
}

export function endOf(event: ChildEndedEvent): { child: RunId; end: ChildEnd } {
  const { outcome, outcomeNumber, reason, detail, fields } = event;
  return { child: event.child as RunId, end: { outcome, outcomeNumber, reason, detail, fields: fieldsOf(fields) } };
}
