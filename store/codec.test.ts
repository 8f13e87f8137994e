import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import type { Execution } from '../flow/change.ts';
import type { Control, Parent, RunId, StepState } from '../flow/run.ts';
import { FieldReferenceSchema } from '../proto/gen/weir/module/v1/module_pb.js';
import {
  ControlSchema,
  Ending,
  ExecutionBatchSchema,
  FieldCellSchema,
  HolderSchema,
  Reason,
  State,
  StepCellSchema,
  StepStatus,
} from '../proto/gen/weir/run/v1/run_pb.js';
import {
  decodeControl,
  decodeExecutions,
  decodeField,
  decodeHolder,
  decodeStep,
  encodeControl,
  encodeExecutions,
  encodeField,
  encodeHolder,
  encodeStep,
} from './codec.ts';

const control: Control = {
  business: 'mail',
  itemKey: new Uint8Array([0, 255, 47]),
  flow: 'mail-intake',
  generation: 2,
  flowVersion: 3,
  level: 5,
  order: Number.MAX_SAFE_INTEGER,
  creationHash: new Uint8Array(32).fill(7),
  createdMs: 1_780_000_000_000,
  deadlineMs: 1_780_000_600_000,
  inputBytes: 12_345,
  superseded: true,
  status: {
    state: State.FAILED,
    reason: Reason.EXHAUSTED,
    detail: 'Größe überschritten: 日本',
    outcomeNumber: 4,
    outcome: State.UNSPECIFIED,
    sinceMs: 1_780_000_000_500,
    evidence: ['a', ''],
  },
};

const step: StepState = {
  status: StepStatus.DONE,
  round: 1,
  attempts: 2,
  losses: 3,
  declines: 4,
  code: 0,
  message: 'fine',
  reason: Reason.UNSPECIFIED,
  startedMs: 1_780_000_000_000,
  endedMs: 1_780_000_000_004,
  dueMs: 0,
  chosen: ['publish', 'merge'],
};

const parent: Parent = {
  run: '1/mail/mail-intake/a/b' as RunId,
  step: 'each[7]',
  round: 2,
  waits: true,
  receive: ['subject', 'body'],
  chain: 3,
};

const started: Control = { ...control, parent, rowKey: Uint8Array.of(0, 47, 255) };

const forEach: StepState = {
  ...step,
  child: '1/mail/part/key' as RunId,
  childOutcome: 0,
  branches: { count: 12, done: Uint8Array.of(255, 1), failed: Uint8Array.of(0, 8), next: 12 },
};

const execution: Execution = {
  step: 'parse',
  round: 1,
  attempt: 1,
  module: 'mail.parse',
  endpoint: '127.0.0.1:21001',
  ending: Ending.SUCCEEDED,
  code: 0,
  message: '',
  startedMs: 1_780_000_000_000,
  durationUs: 1_234,
  droppedFields: 1,
};

describe('the hand-written encoders write what the reflective one does', () => {
  it.each([
    ['of an item', control],
    ['of a run that a step started', started],
  ])('control %s', (_, value) => {
    const { order, createdMs, deadlineMs, inputBytes, status, parent, rowKey, ...rest } = value;
    const { sinceMs, evidence, ...status_ } = status;
    const message = create(ControlSchema, {
      ...rest,
      order: BigInt(order),
      createdMs: BigInt(createdMs),
      deadlineMs: BigInt(deadlineMs),
      inputBytes: BigInt(inputBytes),
      status: { ...status_, sinceMs: BigInt(sinceMs), evidence: [...evidence] },
      ...(parent && { parent: { ...parent, receive: [...parent.receive] } }),
      ...(rowKey && { rowKey }),
    });
    expect(encodeControl(value)).toEqual(toBinary(ControlSchema, message));
  });

  it.each([
    ['full', step],
    ['without a code', { ...step, code: undefined }],
    ['with the largest code', { ...step, code: 0xffff_ffff }],
    ['with a long message', { ...step, message: 'ä'.repeat(300) }],
    ['with a child and branches', forEach],
    ['that asks its child to go on', { ...step, child: forEach.child }],
  ])('step %s', (_, value) => {
    const { startedMs, endedMs, dueMs, chosen, code, child, ...rest } = value as StepState;
    const message = create(StepCellSchema, {
      ...rest,
      ...(child === undefined ? {} : { child }),
      ...(code === undefined ? {} : { code }),
      startedMs: BigInt(startedMs),
      endedMs: BigInt(endedMs),
      dueMs: BigInt(dueMs),
      chosen: [...chosen],
    });
    const { code: _code, ...codeless } = value as StepState;
    expect(encodeStep(code === undefined ? codeless : { ...codeless, code })).toEqual(
      toBinary(StepCellSchema, message),
    );
  });

  it('holder', () => {
    const holder = { processId: 'p1', incarnation: 'i1', claimedMs: 1_780_000_000_000 };
    const message = create(HolderSchema, { ...holder, claimedMs: BigInt(holder.claimedMs) });
    expect(encodeHolder(holder)).toEqual(toBinary(HolderSchema, message));
    expect(decodeHolder(encodeHolder(holder))).toEqual(holder);
  });

  it.each([0, 1, 200, 64 * 1024, 64 * 1024 + 1, 1024 * 1024])('field of %d bytes', (size) => {
    const value = new Uint8Array(size).fill(9);
    const cell = encodeField({ bytes: value });
    expect(Buffer.compare(cell, toBinary(FieldCellSchema, create(FieldCellSchema, { value })))).toBe(0);
    expect(Buffer.compare(decodeField(cell).bytes, value)).toBe(0);
  });

  it('executions', () => {
    const { startedMs, durationUs, ...rest } = execution;
    const record = { ...rest, startedMs: BigInt(startedMs), durationUs: BigInt(durationUs), epoch: 8n };
    const message = create(ExecutionBatchSchema, { executions: [record, record] });
    expect(encodeExecutions([execution, execution], 8)).toEqual(toBinary(ExecutionBatchSchema, message));
    expect(decodeExecutions(encodeExecutions([execution], 8))[0]).toMatchObject(record);
  });
});

describe('what is decoded is what was encoded', () => {
  it('control', () => expect(decodeControl(encodeControl(control))).toEqual(control));
  it('control of a run that a step started', () => expect(decodeControl(encodeControl(started))).toEqual(started));
  it('step', () => expect(decodeStep(encodeStep(step))).toEqual(step));
  it('a step with a child and branches', () => expect(decodeStep(encodeStep(forEach))).toEqual(forEach));
  it('what is absent, which is not there at all', () => {
    const { childOutcome: _outcome, ...asking } = forEach;
    expect(Object.keys(decodeStep(encodeStep(asking)))).not.toContain('childOutcome');
    expect(Object.keys(decodeStep(encodeStep(step)))).not.toContain('child');
    expect(Object.keys(decodeControl(encodeControl(control)))).not.toContain('parent');
    expect(Object.keys(decodeControl(encodeControl(control)))).not.toContain('rowKey');
  });
  it('a field kept elsewhere', () => {
    const reference = create(FieldReferenceSchema, { hash: new Uint8Array(32), size: 5n, location: 's3://b/k' });
    const field = { bytes: new Uint8Array(0), reference };
    expect(decodeField(encodeField(field))).toEqual(field);
  });
});

describe('numbers', () => {
  it.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses to store %d', (startedMs) => {
    expect(() => encodeStep({ ...step, startedMs })).toThrow(RangeError);
    expect(decodeStep(encodeStep(step)), 'a refusal leaves nothing behind').toEqual(step);
  });

  it('refuses a stored number that is not exact', () => {
    const cell = toBinary(StepCellSchema, create(StepCellSchema, { startedMs: 2n ** 53n }));
    expect(() => decodeStep(cell)).toThrow(RangeError);
  });
});

describe('stored fields that this version does not know', () => {
  // What a later version may have added: a number, a text, and a message.
  const later = new BinaryWriter()
    .tag(100, WireType.Varint)
    .uint32(300)
    .tag(101, WireType.LengthDelimited)
    .string('later')
    .tag(102, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.Varint)
    .uint32(1)
    .join()
    .finish();
  const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

  it('survive a rewritten step', () => {
    const read = decodeStep(joined(encodeStep(step), later));
    const rewritten = encodeStep({ ...read, attempts: read.attempts + 1 });
    expect(rewritten).toEqual(joined(encodeStep({ ...step, attempts: step.attempts + 1 }), later));
  });

  it('survive rewritten control data and its status', () => {
    const { status, ...rest } = fromBinary(ControlSchema, encodeControl(control));
    status!.$unknown = [{ no: 99, wireType: WireType.Varint, data: new Uint8Array([5]) }];
    const stored = joined(toBinary(ControlSchema, { ...rest, status: status! }), later);
    const read = decodeControl(stored);
    const rewritten = encodeControl({ ...read, level: 1, status: { ...read.status, detail: '' } });
    const message = fromBinary(ControlSchema, rewritten);
    expect(message.$unknown?.map(({ no }) => no)).toEqual([100, 101, 102]);
    expect(message.status?.$unknown).toEqual(status!.$unknown);
    expect(message.level).toBe(1);
  });

  it('survive in a parent and in branches', () => {
    const added = [{ no: 99, wireType: WireType.Varint, data: new Uint8Array([5]) }];
    const { parent: storedParent } = fromBinary(ControlSchema, encodeControl(started));
    const { branches: storedBranches } = fromBinary(StepCellSchema, encodeStep(forEach));
    storedParent!.$unknown = added;
    storedBranches!.$unknown = added;
    const readControl = decodeControl(
      toBinary(ControlSchema, { ...fromBinary(ControlSchema, encodeControl(started)), parent: storedParent! }),
    );
    const readStep = decodeStep(
      toBinary(StepCellSchema, { ...fromBinary(StepCellSchema, encodeStep(forEach)), branches: storedBranches! }),
    );
    expect(fromBinary(ControlSchema, encodeControl({ ...readControl, level: 1 })).parent?.$unknown).toEqual(added);
    const moved = { ...readStep, branches: { ...readStep.branches!, next: 3 } };
    expect(fromBinary(StepCellSchema, encodeStep(moved)).branches?.$unknown).toEqual(added);
  });
});
