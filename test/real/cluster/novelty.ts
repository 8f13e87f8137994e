// What a newer version adds to what this one knows: a field of number 1,000.

import { type DescMessage, fromBinary, type Message } from '@bufbuild/protobuf';

const number = 1_000;

/** The field as it is stored: a varint of value 7. */
const noveltyBytes = Buffer.from([0xc0, 0x3e, 0x07]);

/** The field for `$unknown` of a message that is made here. */
export const novelty = [{ no: number, wireType: 0, data: new Uint8Array([0x07]) }];

/** The same message, as a newer version would have written it. */
export function renewed(message: Uint8Array): Buffer {
  return Buffer.concat([message, noveltyBytes]);
}

export function hasNovelty(schema: DescMessage, message: Uint8Array): boolean {
  return isNew(fromBinary(schema, message));
}

export function isNew({ $unknown }: Message): boolean {
  return $unknown?.some(({ no, data }) => no === number && data[0] === 0x07) ?? false;
}
