// Filters that the server applies to rows before it sends them.

import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  ColumnPrefixFilterSchema,
  CompareType,
  FilterList_Operator,
  FilterListSchema,
  KeyOnlyFilterSchema,
  SingleColumnValueFilterSchema,
} from '../../../proto/gen/hbase/client_pb.js';
import type { Filter } from './port.ts';
import { comparator } from './wire.ts';

/** Only columns whose qualifier begins so. */
export function columnPrefix(prefix: Buffer): Filter {
  return filter('ColumnPrefixFilter', ColumnPrefixFilterSchema, { prefix });
}

/** Cells without their values. */
export function keyOnly(): Filter {
  return filter('KeyOnlyFilter', KeyOnlyFilterSchema, { lenAsVal: false });
}

/** The first cell of each row only: to count rows. */
export function firstKeyOnly(): Filter {
  return { name: qualified('FirstKeyOnlyFilter'), serialized: new Uint8Array() };
}

/** Only rows that have this cell with this value. The server reads them all, so keep the range small. */
export function columnEquals(family: string, qualifier: Buffer, value: Buffer): Filter {
  return filter('SingleColumnValueFilter', SingleColumnValueFilterSchema, {
    columnFamily: Buffer.from(family),
    columnQualifier: qualifier,
    compareOp: CompareType.EQUAL,
    comparator: comparator(value),
    filterIfMissing: true,
    latestVersionOnly: true,
  });
}

/** What all of them let through. */
export function allOf(filters: readonly Filter[]): Filter {
  return filter('FilterList', FilterListSchema, {
    operator: FilterList_Operator.MUST_PASS_ALL,
    filters: filters.map(({ name, serialized }) => ({ name, serializedFilter: serialized })),
  });
}

function filter<S extends DescMessage>(name: string, schema: S, message: MessageInitShape<S>): Filter {
  return { name: qualified(name), serialized: toBinary<DescMessage>(schema, create<DescMessage>(schema, message)) };
}

function qualified(name: string): string {
  return `org.apache.hadoop.hbase.filter.${name}`;
}
