// One request to one answer, whatever happens in between.
//
// A processor owns the count of its running calls.
// 1. Every request gets an answer with a return code and with the row key of the request.
// 2. A call is counted from its start until its `process` has settled, also when its caller has gone: what it uses is still in use.
// 3. An answer is at most maxAnswerBytes; a larger one is replaced by FAIL_PACK_RSP_PKG without fields.

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { CallContext } from '../../platform/rpc/handlers.ts';
import {
  type Field,
  type ProcessRequest,
  type ProcessResponse,
  ProcessResponseSchema,
  ReturnCode,
} from '../../proto/gen/weir/module/v1/module_pb.js';
import { startDeadline } from './deadline.ts';
import { ModuleError } from './failure.ts';
import { readFields, unpackable, writeFields } from './fields.ts';
import { Answer, type Call, type FieldSpecs, type ModuleDefinition, type Request } from './module.ts';

/** Bytes of an answer: what gRPC clients of all languages take unless they are told otherwise. */
export const maxAnswerBytes = 4 * 1024 * 1024;

/** Bytes of a message for people. */
const maxMessageBytes = 4_096;

export interface ProcessorOptions {
  /** Calls that run at the same time; beyond it the answer is SVR_OVER_LOAD. */
  readonly concurrency: number;
  /** Gets what `process` threw and was not a ModuleError. */
  readonly onError: (error: unknown, call: Call) => void;
}

export type Processor = (request: ProcessRequest, context: Pick<CallContext, 'signal'>) => Promise<ProcessResponse>;

export function createProcessor(
  definition: ModuleDefinition<FieldSpecs, FieldSpecs>,
  options: ProcessorOptions,
): Processor {
  let running = 0;
  return async (request, context) => {
    if (running >= options.concurrency) {
      const message = `${definition.name} runs ${running} calls, at most ${options.concurrency} are allowed`;
      return response(request, { code: ReturnCode.SVR_OVER_LOAD, message: textBytes(message) });
    }
    running += 1;
    const call = callOf(request);
    const deadline = startDeadline(context.signal, call.timeoutMs);
    try {
      return await succeed(definition, request, { call, signal: deadline.signal });
    } catch (thrown) {
      const error = moduleErrorOf(thrown, deadline.signal, (bug) => options.onError(bug, call));
      return response(request, { code: error.code, message: textBytes(error.message) });
    } finally {
      deadline.release();
      running -= 1;
    }
  };
}

async function succeed(
  { input, output, process }: ModuleDefinition<FieldSpecs, FieldSpecs>,
  request: ProcessRequest,
  { call, signal }: { call: Call; signal: AbortSignal },
): Promise<ProcessResponse> {
  const fields = readFields(input, request.fields) as Request<FieldSpecs>['fields'];
  const result = await process({ fields, signal, call });
  const [values, message] = result instanceof Answer ? [result.fields, result.message] : [result, undefined];
  const answer = response(request, {
    code: ReturnCode.SUCC,
    fields: writeFields(output, values),
    ...(message === undefined ? {} : { message: textBytes(message) }),
  });
  const bytes = sizeOf(answer);
  if (bytes > maxAnswerBytes) throw unpackable(`the answer has ${bytes} bytes, allowed are ${maxAnswerBytes}`);
  return answer;
}

/** The one place where what was thrown becomes a return code. */
function moduleErrorOf(thrown: unknown, signal: AbortSignal, onBug: (error: unknown) => void): ModuleError {
  if (thrown instanceof ModuleError) return thrown;
  // Whatever form the end of the time takes in what `process` called, it is no bug of it.
  if (signal.aborted) {
    const reason = signal.reason instanceof Error ? signal.reason.message : 'aborted';
    return new ModuleError(ReturnCode.FAIL_BACK_TIMEOUT, reason, thrown);
  }
  onBug(thrown);
  return new ModuleError(ReturnCode.SVR_INNER_ERR, thrown instanceof Error ? thrown.message : String(thrown), thrown);
}

function response(
  { rowkey }: ProcessRequest,
  content: MessageInitShape<typeof ProcessResponseSchema>,
): ProcessResponse {
  return create(ProcessResponseSchema, { ...content, ...(rowkey === undefined ? {} : { rowkey }) });
}

/** Exact only where it matters: encoding twice is for large answers. */
function sizeOf(answer: ProcessResponse): number {
  const framing = 64;
  const atMost = (field: Field): number =>
    (field.key?.length ?? 0) + (field.value?.length ?? 0) + (field.reference?.location?.length ?? 0) * 3 + 2 * framing;
  let bytes = framing + (answer.message?.length ?? 0) + (answer.rowkey?.length ?? 0);
  for (const field of answer.fields) bytes += atMost(field);
  return bytes <= maxAnswerBytes ? bytes : toBinary(ProcessResponseSchema, answer).length;
}

function textBytes(message: string): Uint8Array {
  const bytes = new Uint8Array(Math.min(maxMessageBytes, message.length * 3));
  // Stops before a character that doesn't fit as a whole.
  const { written } = new TextEncoder().encodeInto(message, bytes);
  return bytes.subarray(0, written);
}

function callOf(request: ProcessRequest): Call {
  return {
    rowkey: request.rowkey ?? new Uint8Array(),
    callKey: request.callKey,
    attempt: request.attempt,
    epoch: request.epoch,
    business: request.business,
    flow: request.flow,
    step: request.step,
    traceparent: request.traceparent,
    timeoutMs: request.timeoutMs === undefined ? undefined : Number(request.timeoutMs),
  };
}
