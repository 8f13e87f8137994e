// RUN as commands print and read it: `business/flow/key`, the key as text, or as 0x… in hexadecimal where it isn't printable,
// and `#generation` behind it when it isn't the first. What is printed is what can be typed.

import { InvalidArgumentError } from 'commander';
import { latin1Bytes, printableRun, runId } from '../flow/run-id.ts';
import type { RunName } from '../proto/gen/weir/runs/v1/runs_pb.js';

export type RunArgument = Pick<RunName, 'business' | 'flow' | 'key' | 'generation'>;

/**
 * Reads a run's name. Without `#generation` it is 0, which names the newest. A key that itself ends like `#2` is written in
 * hexadecimal, or with its generation behind it.
 */
export function parseRun(text: string): RunArgument {
  const match = /^(?<business>[^/]+)\/(?<flow>[^/]+)\/(?<key>.+?)(?:#(?<generation>[1-9][0-9]{0,8}))?$/s.exec(text);
  const { business, flow, key, generation } = match?.groups ?? {};
  if (business === undefined || flow === undefined || key === undefined) {
    throw new InvalidArgumentError('Allowed is BUSINESS/FLOW/KEY, as in mail/mail-intake/spam-1/00001.');
  }
  return { business, flow, key: parseKey(key), generation: Number(generation ?? 0) };
}

/** The inverse of `parseRun`, except that the first generation is printed without a number, which names it while it is the newest. */
export function printRun({ business, flow, key, generation }: RunArgument): string {
  const printed = printableRun(runId({ business, flow, itemKey: key, generation: Math.max(1, generation) }));
  // A key that looks as if a generation followed would be read as one.
  return generation <= 1 && /#[1-9][0-9]{0,8}$/.test(printed) ? `${printed}#1` : printed;
}

/** A key as people write it. Throws InvalidArgumentError. */
export function parseKey(text: string): Uint8Array {
  if (!text.startsWith('0x')) {
    if (/^[\x21-\x7e]+$/.test(text)) return latin1Bytes(text);
    throw new InvalidArgumentError(
      'Allowed in a key are printable ASCII characters without spaces; others go as 0x… in hexadecimal.',
    );
  }
  const digits = text.slice(2);
  if (/^(?:[0-9a-fA-F]{2})+$/.test(digits)) return new Uint8Array(Buffer.from(digits, 'hex'));
  throw new InvalidArgumentError('After 0x, a key is an even number of hexadecimal digits.');
}
