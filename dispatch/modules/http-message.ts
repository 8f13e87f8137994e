// A call as an HTTP request, and its answer: JSON, values in base64.

import type { Answer } from '../../flow/event.ts';
import type { FieldValue } from '../../flow/run.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { answerOf, maxFieldBytes } from './classify.ts';
import type { ModuleCall } from './port.ts';

/** Bytes of an answer's body, as of a gRPC message. */
export const maxResponseBytes = 4 * 1024 * 1024;

export function requestBody(call: ModuleCall): string {
  const { callKey, step, attempt, business, flow, rowkey } = call;
  const fields = Object.fromEntries(call.fields.map(([name, value]) => [name, fieldJson(value)]));
  return JSON.stringify({ callKey, step, attempt, business, flow, rowkey: base64(rowkey), fields });
}

export function requestHeaders(call: ModuleCall, body: string): Record<string, string | number> {
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Accept: 'application/json',
    'Idempotency-Key': call.callKey,
    ...(call.traceparent !== undefined && { traceparent: call.traceparent }),
  };
}

/** What the whole answer means. */
export function classifyHttp(status: number, body: Buffer): Answer {
  const ending = endingOf(status);
  if (ending !== Ending.SUCCEEDED) return answerOf(ending, `HTTP status ${status}${quote(body)}`);
  if (body.length === 0) return answerOf(ending, '');
  const fields = readFields(body);
  return typeof fields === 'string' ? answerOf(Ending.VIOLATION, fields) : { ...answerOf(ending, ''), fields };
}

function endingOf(status: number): Ending {
  if (status >= 200 && status < 300) return Ending.SUCCEEDED;
  switch (status) {
    case 408:
    case 504:
      return Ending.TIMED_OUT;
    case 429:
      return Ending.OVERLOADED;
    case 401:
    case 403:
      return Ending.NO_AUTH;
  }
  if (status >= 400 && status < 500) return Ending.REJECTED;
  // A redirection isn't followed: where it leads is nobody's decision here.
  return status >= 500 && status < 600 ? Ending.FAILED : Ending.VIOLATION;
}

/** The fields of `{ "fields": { name: "<base64>" | { "text": "…" } } }`, or what is wrong with it. */
function readFields(body: Buffer): ReadonlyMap<string, FieldValue> | string {
  let answer: unknown;
  try {
    answer = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return 'the answer is no JSON; allowed is an empty body or {"fields": {…}}';
  }
  if (!isObject(answer)) return 'the answer is no JSON object; allowed is {"fields": {…}}';
  const sent = answer['fields'] ?? {};
  if (!isObject(sent)) return "the answer's fields are no JSON object";
  const fields = new Map<string, FieldValue>();
  for (const [name, value] of Object.entries(sent)) {
    const bytes = bytesOf(value);
    if (!bytes) return `the answer's field ${name.slice(0, 64)} is neither base64 nor {"text": "…"}`;
    if (bytes.length > maxFieldBytes) {
      return `the answer's field ${name.slice(0, 64)} has ${bytes.length} bytes, at most ${maxFieldBytes} are allowed`;
    }
    fields.set(name, { bytes });
  }
  return fields;
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (isObject(value)) return typeof value['text'] === 'string' ? new TextEncoder().encode(value['text']) : undefined;
  if (typeof value !== 'string' || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value))
    return undefined;
  return new Uint8Array(Buffer.from(value, 'base64'));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldJson({ bytes, reference }: FieldValue): unknown {
  if (!reference) return base64(bytes);
  const { hash, size, location } = reference;
  return { reference: { hash: base64(hash ?? new Uint8Array()), size: Number(size ?? 0n), location } };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** The beginning of what came with a status, for people. */
function quote(body: Buffer): string {
  const text = body.subarray(0, 400).toString().replaceAll(/\s+/g, ' ').trim();
  return text === '' ? '' : `: ${text}`;
}
