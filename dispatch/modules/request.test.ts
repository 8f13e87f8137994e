import { create, fromBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { FieldReferenceSchema, ProcessRequestSchema } from '../../proto/gen/weir/module/v1/module_pb.js';
import type { ModuleCall } from './port.ts';
import { encodeRequest } from './request.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

const call: ModuleCall = {
  kind: 'call',
  isSuspect: false,
  step: 'score',
  callKey: '1/mail/mail-intake/ÿ/score/1',
  module: 'mail.score',
  round: 1,
  attempt: 3,
  timeoutMs: 2_000,
  deadlineMs: 0,
  rowkey: bytes(0, 255),
  business: 'mail',
  flow: 'mail-intake',
  level: 5,
  epoch: 7,
  fields: [
    ['subject', { bytes: bytes(104, 105) }],
    ['empty', { bytes: bytes() }],
    [
      'body',
      { bytes: bytes(), reference: create(FieldReferenceSchema, { location: 's3://b/k', size: 9n, hash: bytes(1) }) },
    ],
  ],
};

const decode = (made: ModuleCall, timeoutMs: number) =>
  fromBinary(ProcessRequestSchema, Uint8Array.from(encodeRequest(made, timeoutMs)));

describe('encodeRequest', () => {
  it('writes what the generated code reads', () => {
    const request = decode({ ...call, traceparent: '00-aa-bb-01' }, 1_999.2);
    expect(request).toMatchObject({
      rowkey: bytes(0, 255),
      timeoutMs: 2_000n,
      callKey: call.callKey,
      attempt: 3,
      epoch: 7n,
      traceparent: '00-aa-bb-01',
      business: 'mail',
      flow: 'mail-intake',
      step: 'score',
    });
    expect(request.$unknown).toBeUndefined();
    expect(
      request.fields.map(({ key = [], value, reference }) => [Buffer.from(key).toString(), value, reference]),
    ).toEqual([
      ['subject', bytes(104, 105), undefined],
      ['empty', bytes(), undefined],
      ['body', undefined, expect.objectContaining({ location: 's3://b/k', size: 9n, hash: bytes(1) })],
    ]);
  });

  it('writes the same after a large request, and after a bug', () => {
    const before = encodeRequest(call, 5);
    encodeRequest({ ...call, fields: [['large', { bytes: new Uint8Array(100_000) }]] }, 5);
    expect(encodeRequest(call, 5)).toEqual(before);
    expect(() => encodeRequest({ ...call, attempt: -1 }, 5)).toThrow('invalid uint32');
    expect(encodeRequest(call, 5)).toEqual(before);
  });

  it('leaves out the trace of a run that is not traced', () => {
    expect(decode(call, 1).traceparent).toBeUndefined();
  });

  it('writes numbers beyond 32 bits, and never says that no time is left', () => {
    expect(decode({ ...call, epoch: 2 ** 40 }, 2 ** 33)).toMatchObject({ epoch: 2n ** 40n, timeoutMs: 2n ** 33n });
    expect(decode(call, 0).timeoutMs).toBe(1n);
  });
});
