// What modules answer: mostly what they should, as bytes of the real messages; at times that they can't, and at times lies.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { status as Code } from '@grpc/grpc-js';
import type { EndedExchange } from '../../../dispatch/modules/classify.ts';
import { branchOf } from '../../../flow/branch-path.ts';
import { isExitCall } from '../../../flow/exit-call.ts';
import {
  ProcessRequestSchema,
  type ProcessResponse,
  ProcessResponseSchema,
  ReturnCode,
} from '../../../proto/gen/weir/module/v1/module_pb.js';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { callbackModules } from '../workload/draft.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { Faults } from './faults.ts';
import type { SeenRequest } from './history.ts';
import type { Random } from './random.ts';

export interface Reply {
  /** What its answer means by the contract of modules, whatever the engine makes of it. */
  readonly ending: Ending;
  readonly fields: ReadonlyMap<string, string>;
  /** A declared field isn't of its type: only the flow can see that. */
  readonly isMalformed: boolean;
  /** Bytes of a ProcessResponse, or a status of gRPC. */
  readonly sent: Uint8Array | EndedExchange;
}

/** Codes other than success: the fault behind each, and those that it is drawn from. */
const refusals: ReadonlyArray<{
  readonly fault: FaultKind;
  readonly ending: Ending;
  readonly codes: readonly ReturnCode[];
}> = [
  {
    fault: 'answer FAILED',
    ending: Ending.FAILED,
    codes: [
      ReturnCode.SVR_INNER_ERR,
      ReturnCode.FAIL_BACK_SVR,
      ReturnCode.FAIL_PACK_RSP_PKG,
      ReturnCode.FAIL_BACK_TIMEOUT,
    ],
  },
  {
    fault: 'answer REJECTED',
    ending: Ending.REJECTED,
    codes: [ReturnCode.FAIL_PARSE_REQ_PKG, ReturnCode.REQ_PKG_PARAM_INVALID, ReturnCode.REQ_MUST_PARAM_MISS],
  },
  { fault: 'answer FATAL', ending: Ending.FATAL, codes: [ReturnCode.FATAL_ERROR] },
  { fault: 'answer OVERLOADED', ending: Ending.OVERLOADED, codes: [ReturnCode.SVR_OVER_LOAD] },
  { fault: 'answer OVER_LIMITS', ending: Ending.OVER_LIMITS, codes: [ReturnCode.OVER_LIMITS] },
  { fault: 'answer NO_AUTH', ending: Ending.NO_AUTH, codes: [ReturnCode.NO_AUTH] },
];

/** A status with which a handler ends that has thrown. */
const thrown: EndedExchange = {
  code: Code.INTERNAL,
  details: 'internal error',
  origin: 'peer',
  opened: true,
  answered: true,
};

/** A code that is none. */
const unknownCode = 0x77 as ReturnCode;

/** The request in the bytes that came; throws when they are no ProcessRequest, which is a bug of the engine. */
export function seenRequest(bytes: Uint8Array): SeenRequest {
  const request = fromBinary(ProcessRequestSchema, bytes);
  const fields = request.fields.map(({ key, value }): [string, string] => [latin1(key), latin1(value)]);
  return {
    rowkey: latin1(request.rowkey),
    step: request.step ?? '',
    attempt: request.attempt ?? 0,
    epoch: Number(request.epoch ?? 0),
    callKey: request.callKey ?? '',
    fields: new Map(fields),
  };
}

/** `number` is new each time: it shows which processing of a request a result came from. */
export function madeUpReply(
  faults: Faults,
  random: Random,
  where: string,
  request: SeenRequest,
  number: number,
): Reply {
  const none: ReadonlyMap<string, string> = new Map();
  for (const { fault, ending, codes } of refusals) {
    if (!faults.strikes(fault, where)) continue;
    if (ending === Ending.FAILED && random.chance(0.2))
      return { ending, fields: none, isMalformed: false, sent: thrown };
    const code = random.pick(codes);
    const message = Buffer.from(`${where} says ${Ending[ending]}`);
    return {
      ending,
      fields: none,
      isMalformed: false,
      sent: encode({ code, message, rowkey: Buffer.from(request.rowkey, 'latin1') }),
    };
  }
  return lie(faults, random, where, request, number) ?? truth(faults, random, where, request, number);
}

function truth(faults: Faults, random: Random, where: string, request: SeenRequest, number: number): Reply {
  const fields = outputsOf(request, String(number));
  if (faults.strikes('undeclared field', where)) fields.set('unasked', 'noise');
  // Naming the row key is optional.
  const rowkey = random.chance(0.5) ? { rowkey: Buffer.from(request.rowkey, 'latin1') } : {};
  return {
    ending: Ending.SUCCEEDED,
    fields,
    isMalformed: false,
    sent: encode({ code: ReturnCode.SUCC, ...rowkey }, fields),
  };
}

/** An answer that breaks the contract; undefined when it doesn't. */
function lie(faults: Faults, random: Random, where: string, request: SeenRequest, number: number): Reply | undefined {
  const fields = outputsOf(request, String(number));
  const violation = (sent: Uint8Array): Reply => ({ ending: Ending.VIOLATION, fields, isMalformed: false, sent });
  if (faults.strikes('answer VIOLATION', where)) return violation(encode({}, fields));
  if (faults.strikes('unknown code', where)) return violation(encode({ code: unknownCode }, fields));
  if (faults.strikes('wrong row key', where)) {
    const rowkey = Buffer.from(`${request.rowkey}?`, 'latin1');
    return violation(encode({ code: ReturnCode.SUCC, rowkey }, fields));
  }
  if (faults.strikes('garbage answer', where)) {
    const whole = encode({ code: ReturnCode.SUCC }, fields);
    return violation(whole.subarray(0, whole.length - random.between(1, 3)));
  }
  // Of an answer of which nothing is kept nothing can be malformed.
  if (keepsFields(where, request) && faults.strikes('malformed field', where)) {
    fields.set(`${branchOf(request.step)?.step ?? request.step}_number`, 'many');
    return { ...violation(encode({ code: ReturnCode.SUCC }, fields)), isMalformed: true };
  }
  return undefined;
}

/** Of a call on exit nothing is kept, nor of the answer that work was taken on. */
function keepsFields(where: string, { step }: SeenRequest): boolean {
  return !isExitCall(step) && !where.includes(callbackModules);
}

/** A step's number depends on its item and the step alone. The branches of a list leave fields of one name. */
export function outputsOf({ rowkey, step }: SeenRequest, mark: string): Map<string, string> {
  let hash = 0;
  for (const byte of Buffer.from(rowkey + step, 'latin1')) hash = (Math.imul(hash, 31) + byte) >>> 0;
  const name = branchOf(step)?.step ?? step;
  return new Map([
    [`${name}_number`, String(hash % 10)],
    [`${name}_mark`, mark],
  ]);
}

function encode(
  { code, message, rowkey }: Partial<Pick<ProcessResponse, 'code' | 'message' | 'rowkey'>>,
  fields: ReadonlyMap<string, string> = new Map(),
): Uint8Array {
  const response = create(ProcessResponseSchema, {
    ...(code !== undefined && { code }),
    ...(message && { message }),
    ...(rowkey && { rowkey }),
    fields: [...fields].map(([name, value]) => ({ key: Buffer.from(name), value: Buffer.from(value) })),
  });
  return toBinary(ProcessResponseSchema, response);
}

function latin1(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}
