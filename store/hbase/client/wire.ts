// Between the port's words and HBase's messages.

import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  BinaryComparatorSchema,
  type ColumnSchema,
  CompareType,
  type ConditionSchema,
  type CoprocessorServiceResult,
  type FilterSchema,
  MutateRowsRequestSchema,
  MutateRowsResponseSchema,
  MutationProto_DeleteType,
  MutationProto_MutationType,
  type MutationProtoSchema,
  type RegionActionResult,
  type Result,
  type ResultOrException,
} from '../../../proto/gen/hbase/client_pb.js';
import { RegionSpecifier_RegionSpecifierType, type RegionSpecifierSchema } from '../../../proto/gen/hbase/region_pb.js';
import type { Column, Condition, Mutation, ReadOptions, Row, RowGroup } from './port.ts';

const filterPackage = 'org.apache.hadoop.hbase.filter';

export function regionSpecifier(name: Buffer): MessageInitShape<typeof RegionSpecifierSchema> {
  return { type: RegionSpecifier_RegionSpecifierType.REGION_NAME, value: name };
}

/** The request of a MutateRows. Throws RangeError when the group asks for what HBase can't do. */
export function mutateRowsRequest(group: RowGroup): Uint8Array {
  if (group.mutations.length === 0) throw new RangeError('a group has no mutations; at least one is needed');
  return toBinary(
    MutateRowsRequestSchema,
    create(MutateRowsRequestSchema, {
      mutationRequest: group.mutations.map(mutationMessage),
      condition: group.conditions.map(conditionMessage),
    }),
  );
}

/** Whether the conditions of a MutateRows held. Servers that know no conditions say nothing about them. */
export function isProcessed(result: CoprocessorServiceResult): boolean {
  return fromBinary(MutateRowsResponseSchema, result.value?.value ?? new Uint8Array()).processed;
}

/** What a region answered to the actions of a Multi, by their index. */
export function resultsByIndex(answer: RegionActionResult | undefined): ReadonlyMap<number, ResultOrException> {
  return new Map(answer?.resultOrException.map((result) => [result.index, result]));
}

/** What is asked of a row. */
export function readMessage(options: ReadOptions): {
  column: Array<MessageInitShape<typeof ColumnSchema>>;
  filter?: MessageInitShape<typeof FilterSchema>;
} {
  const { columns = [], filter } = options;
  const column = columns.map(columnMessage);
  if (filter === undefined) return { column };
  return { column, filter: { name: filter.name, serializedFilter: filter.serialized } };
}

/** Undefined for a result without cells: no such row. */
export function rowOf(cells: Result['cell']): Row | undefined {
  const [first] = cells;
  if (first === undefined) return undefined;
  return {
    row: bufferOf(first.row),
    cells: cells.map((cell) => ({
      family: bufferOf(cell.family),
      qualifier: bufferOf(cell.qualifier),
      timestamp: Number(cell.timestamp),
      value: bufferOf(cell.value),
    })),
  };
}

/** Compares all bytes; absent: is there nothing? */
export function comparator(value: Buffer | undefined): { name: string; serializedComparator: Uint8Array } {
  if (value === undefined) {
    return { name: `${filterPackage}.NullComparator`, serializedComparator: new Uint8Array() };
  }
  const message = create(BinaryComparatorSchema, { comparable: { value } });
  return {
    name: `${filterPackage}.BinaryComparator`,
    serializedComparator: toBinary(BinaryComparatorSchema, message),
  };
}

/** The same bytes, not a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function columnMessage({ family, qualifier }: Column): MessageInitShape<typeof ColumnSchema> {
  return { family: Buffer.from(family), qualifier: qualifier === undefined ? [] : [qualifier] };
}

function mutationMessage(mutation: Mutation): MessageInitShape<typeof MutationProtoSchema> {
  const timestamp = checkedTimestamp(mutation.timestamp);
  const column = (qualifierValue: ReadonlyArray<{ qualifier: Buffer }>) => [
    { family: Buffer.from(mutation.family), qualifierValue: [...qualifierValue] },
  ];
  if (mutation.kind === 'put') {
    return {
      row: mutation.row,
      mutateType: MutationProto_MutationType.PUT,
      columnValue: column(mutation.cells.map(({ qualifier, value }) => ({ qualifier, value, timestamp }))),
    };
  }
  const { DELETE_FAMILY, DELETE_MULTIPLE_VERSIONS } = MutationProto_DeleteType;
  const deletes = mutation.qualifiers?.map((qualifier) => ({
    qualifier,
    timestamp,
    deleteType: DELETE_MULTIPLE_VERSIONS,
  })) ?? [{ qualifier: Buffer.alloc(0), timestamp, deleteType: DELETE_FAMILY }];
  return { row: mutation.row, mutateType: MutationProto_MutationType.DELETE, columnValue: column(deletes) };
}

function conditionMessage(condition: Condition): MessageInitShape<typeof ConditionSchema> {
  // HBase takes an empty value for "there is none".
  if (condition.equals?.length === 0)
    throw new RangeError('a condition compares with no bytes; at least one is needed');
  return {
    row: condition.row,
    family: Buffer.from(condition.family),
    qualifier: condition.qualifier,
    compareType: CompareType.EQUAL,
    comparator: comparator(condition.equals),
  };
}

function checkedTimestamp(timestamp: number): bigint {
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw new RangeError(`a mutation has the timestamp ${timestamp}; integers from 0 to 2^53 - 1 are allowed`);
  }
  return BigInt(timestamp);
}
