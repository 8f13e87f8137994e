// What the end of a call means: from bytes or a gRPC status to an answer. The table of return codes, as far as it concerns one
// try at one endpoint.

import { status as Code } from '@grpc/grpc-js';
import type { Answer } from '../../flow/event.ts';
import { endingsByCode } from '../../flow/return-code.ts';
import type { FieldValue } from '../../flow/run.ts';
import type { ErrorOrigin } from '../../platform/rpc/error.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Response, type ResponseField, readResponse } from './response.ts';

/** Bytes of one field's value; larger values go by reference. */
export const maxFieldBytes = 1024 * 1024;

/** Characters of a message that are kept. */
const maxMessageLength = 1_024;

const noFields: ReadonlyMap<string, FieldValue> = new Map();
const utf8 = new TextDecoder();

/** An answer without fields. The message is cut to what is kept. */
export function answerOf(ending: Ending, message: string, code?: number): Answer {
  return { ending, message: shortened(message), fields: noFields, ...(code === undefined ? {} : { code }) };
}

/** The answer in the bytes of a ProcessResponse to a call with this row key. */
export function classifyResponse(bytes: Uint8Array, rowkey: Uint8Array): Answer {
  let response: Response;
  try {
    response = readResponse(bytes);
  } catch (error) {
    return violation(`the answer is no ProcessResponse: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { code } = response;
  if (code === undefined) return violation(`the answer has no code${quote(response.message)}`);
  const ending = endingsByCode.get(code);
  if (ending === undefined) {
    return violation(`code 0x${(code >>> 0).toString(16)} is not a return code${quote(response.message)}`, code);
  }
  if (response.rowkey !== undefined && Buffer.compare(response.rowkey, rowkey) !== 0) {
    return violation(`the answer is for row key ${printable(response.rowkey)}, asked was ${printable(rowkey)}`, code);
  }
  const tooLarge = response.fields.find(({ value }) => value !== undefined && value.length > maxFieldBytes);
  if (tooLarge) {
    const found = `field ${shortened(tooLarge.name)} of the answer has ${tooLarge.value?.length} bytes`;
    return violation(`${found}, at most ${maxFieldBytes} are allowed; larger values go by reference`, code);
  }
  return { ending, code, message: readable(response.message), fields: fieldsOf(response.fields) };
}

export interface EndedExchange {
  readonly code: Code;
  readonly details: string;
  readonly origin: ErrorOrigin;
  /** An HTTP/2 stream was opened for the call: bytes may have left this process. */
  readonly opened: boolean;
  /** The peer sent response headers: it has the request. */
  readonly answered: boolean;
}

/** The answer that stands for a gRPC status other than OK. */
export function classifyStatus({ code, details, origin, opened, answered }: EndedExchange): Answer {
  const message = `${Code[code] ?? `status ${code}`}: ${details}`;
  return answerOf(endingOfStatus(), message);

  function endingOfStatus(): Ending {
    // Proof in both cases: without a stream nothing can be sent, and HTTP/2 promises that a refused stream wasn't processed.
    if (!opened || (origin === 'unsent' && !answered)) return Ending.UNREACHABLE;
    if (origin === 'unsent' || origin === 'lost') return Ending.LOST;
    if (origin === 'oversized') return Ending.VIOLATION;
    return code === Code.DEADLINE_EXCEEDED ? Ending.TIMED_OUT : Ending.FAILED;
  }
}

function violation(message: string, code?: number): Answer {
  return answerOf(Ending.VIOLATION, message, code);
}

function fieldsOf(fields: readonly ResponseField[]): ReadonlyMap<string, FieldValue> {
  if (fields.length === 0) return noFields;
  const values = new Map<string, FieldValue>();
  for (const { name, value, reference } of fields) {
    const bytes = value === undefined ? new Uint8Array() : detached(value);
    values.set(name, reference ? { bytes, reference } : { bytes });
  }
  return values;
}

/** A value is a view of the whole message; a small one is copied, so that it doesn't keep megabytes alive. */
function detached(value: Uint8Array): Uint8Array {
  return value.byteLength * 2 < value.buffer.byteLength ? new Uint8Array(value) : value;
}

/** Text for people: what is no UTF-8 shows as U+FFFD. */
function readable(message: Uint8Array | undefined): string {
  if (message === undefined || message.length === 0) return '';
  // A character has at most four bytes, so more are never needed.
  return shortened(utf8.decode(message.subarray(0, maxMessageLength * 4)));
}

function shortened(text: string): string {
  return text.length <= maxMessageLength ? text : text.slice(0, maxMessageLength).toWellFormed();
}

function quote(message: Uint8Array | undefined): string {
  const text = readable(message);
  return text === '' ? '' : `; its message: ${text}`;
}

/** A key as text when it is short and printable ASCII, else in hexadecimal. */
function printable(key: Uint8Array): string {
  const shown = Buffer.from(key.subarray(0, 64));
  const text = shown.toString('latin1');
  const more = key.length > shown.length ? '…' : '';
  return /^[ -~]*$/.test(text) ? `${JSON.stringify(text)}${more}` : `0x${shown.toString('hex')}${more}`;
}
