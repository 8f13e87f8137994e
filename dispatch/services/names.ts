// What callers may send as names and keys: the rules that flows hold theirs to (flow/definition), since an item that breaks them
// can belong to no flow.

import { flowLimits } from '../../flow/definition/limits.ts';
import { quoted } from '../../flow/definition/problem.ts';

/** Bytes of an item's key: a key is part of every row's name in the store. */
const maxKeyBytes = 1_024;

const flowForm = /^[a-z][a-z0-9_-]*$/;
const fieldForm = /^[a-z][a-z0-9_]*$/;

/** What is wrong with the name of a flow or a business line; undefined when nothing is. */
export function flowNameProblem(name: string): string | undefined {
  return nameProblem(name, flowForm);
}

/** What is wrong with the name of a field; undefined when nothing is. */
export function fieldNameProblem(name: string): string | undefined {
  return nameProblem(name, fieldForm);
}

/** What is wrong with an item's key; undefined when nothing is. */
export function keyProblem(key: Uint8Array): string | undefined {
  if (key.length >= 1 && key.length <= maxKeyBytes) return undefined;
  return `found ${count(key.length)} bytes, allowed are 1 to ${count(maxKeyBytes)}`;
}

/** A number for messages: `1,048,576`. */
export function count(value: number): string {
  return value.toLocaleString('en');
}

function nameProblem(name: string, form: RegExp): string | undefined {
  if (name.length <= flowLimits.maxNameCharacters && form.test(name)) return undefined;
  const allowed = `${form.source.slice(1, -1)}, up to ${flowLimits.maxNameCharacters} characters`;
  return name === '' ? `is absent; a name is needed: ${allowed}` : `found ${quoted(name)}, allowed is ${allowed}`;
}
