import { hash } from 'node:crypto';
import type { FieldValue } from '../../flow/run.ts';

/**
 * What makes two submissions the same: SHA-256 over names and values in the order of names, so that it doesn't depend on the
 * order in which fields were sent.
 */
export function creationHash(fields: ReadonlyMap<string, FieldValue>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const name of [...fields.keys()].sort()) {
    const value = fields.get(name);
    if (!value) continue;
    const { reference } = value;
    const kept = reference
      ? `@${Buffer.from(reference.hash ?? []).toString('hex')} ${reference.size} ${reference.location}`
      : '';
    parts.push(Buffer.from(`${name} ${value.bytes.length} ${kept}\n`), value.bytes);
  }
  return hash('sha256', Buffer.concat(parts), 'buffer');
}
