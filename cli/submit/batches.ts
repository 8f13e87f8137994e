// Items gathered into messages.

import { maxItems } from '../../dispatch/services/submit.ts';
import type { Item } from '../../proto/gen/weir/runs/v1/runs_pb.js';

/** Bytes of values in one message of several items: a message has 4 MB, and smaller ones are stored while the next are read. */
const maxBatchBytes = 1_048_576;

export interface NumberedItem {
  /** Line number in the input. */
  readonly line: number;
  readonly item: Item;
}

export function* inBatches(items: Iterable<NumberedItem>): Generator<NumberedItem[]> {
  let batch: NumberedItem[] = [];
  let bytes = 0;
  for (const numbered of items) {
    const size = numbered.item.fields.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    if (batch.length === maxItems || (batch.length > 0 && bytes + size > maxBatchBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(numbered);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
