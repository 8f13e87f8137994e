// A call as bytes of ProcessRequest. Written field by field into one buffer that is kept, because this runs once per call:
// building a message and a buffer for each costs several times as much. The test reads what is written here with the generated
// code.

import { toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { FieldValue } from '../../flow/run.ts';
import { FieldReferenceSchema } from '../../proto/gen/weir/module/v1/module_pb.js';
import type { ModuleCall } from './port.ts';

/** Numbers of fields in module.proto. */
const request = {
  rowkey: 1,
  fields: 2,
  timeoutMs: 3,
  callKey: 16,
  attempt: 17,
  epoch: 18,
  traceparent: 19,
  business: 20,
  flow: 21,
  step: 22,
} as const;
const field = { key: 1, value: 2, reference: 16 } as const;

/** Bytes of the buffer beyond which it is not kept: large requests are rare, and would hold megabytes for ever. */
const maxKeptBytes = 64 * 1024;

// Empty between calls: nothing yields while it is written, and one that a bug left half written is thrown away.
let writer = new BinaryWriter();

/** `timeoutMs`: how long the answer is waited for, from now. */
export function encodeRequest(call: ModuleCall, timeoutMs: number): Buffer {
  try {
    writeRequest(call, timeoutMs);
  } catch (error) {
    writer = new BinaryWriter();
    throw error;
  }
  const { buffer, byteOffset, byteLength } = writer.finish();
  if (byteLength > maxKeptBytes) writer = new BinaryWriter();
  return Buffer.from(buffer, byteOffset, byteLength);
}

function writeRequest(call: ModuleCall, timeoutMs: number): void {
  writer.tag(request.rowkey, WireType.LengthDelimited).bytes(call.rowkey);
  for (const [name, value] of call.fields) writeField(name, value);
  writer.tag(request.timeoutMs, WireType.Varint);
  writeWhole(Math.max(1, Math.ceil(timeoutMs)));
  writer.tag(request.callKey, WireType.LengthDelimited).string(call.callKey);
  writer.tag(request.attempt, WireType.Varint).uint32(call.attempt);
  writer.tag(request.epoch, WireType.Varint);
  writeWhole(call.epoch);
  if (call.traceparent !== undefined) {
    writer.tag(request.traceparent, WireType.LengthDelimited).string(call.traceparent);
  }
  writer.tag(request.business, WireType.LengthDelimited).string(call.business);
  writer.tag(request.flow, WireType.LengthDelimited).string(call.flow);
  writer.tag(request.step, WireType.LengthDelimited).string(call.step);
}

function writeField(name: string, { bytes, reference }: FieldValue): void {
  writer.tag(request.fields, WireType.LengthDelimited).fork();
  writer.tag(field.key, WireType.LengthDelimited).string(name);
  // A value kept elsewhere has no bytes here; an empty one that is here is sent as such.
  if (reference === undefined || bytes.length > 0) writer.tag(field.value, WireType.LengthDelimited).bytes(bytes);
  if (reference !== undefined) {
    writer.tag(field.reference, WireType.LengthDelimited).bytes(toBinary(FieldReferenceSchema, reference));
  }
  writer.join();
}

/** 32-bit arithmetic where it suffices: nearly always. */
function writeWhole(value: number): void {
  if (value <= 0xffff_ffff) writer.uint32(value);
  else writer.uint64(value);
}
