// What rules can read besides declared fields: what an item is, not what it holds.

import { FieldType } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import type { RouteTable } from '../../proto/gen/weir/flow/v1/routes_pb.js';

export const itemVariables: ReadonlyMap<string, FieldType> = new Map([
  ['business', FieldType.STRING],
  ['level', FieldType.INT],
]);

/** Types of all that the rules of a table may read. */
export function typesOf(table: RouteTable): ReadonlyMap<string, FieldType> {
  return new Map([...table.fields.map(({ name, type }): [string, FieldType] => [name, type]), ...itemVariables]);
}
