// Kinds of values in a cluster file. A variable of the environment may stand in for each of them, written as text.

import type { Setting } from '../../platform/settings/settings.ts';

export interface ValueKind<T> {
  /** Undefined when it isn't one; the problem is noted at the setting. */
  readonly read: (setting: Setting) => T | undefined;
  /** YAML of the same value, of the text of a variable. */
  readonly yaml: (text: string) => string;
}

const quoted = (text: string): string => JSON.stringify(text.trim());
const listed = (text: string): string => `[${text.split(',').map(quoted).join(', ')}]`;

export function wholeNumber(min: number, max: number): ValueKind<number> {
  return {
    read: (setting) => setting.wholeNumber({ min, max }),
    // What is no number stays a text, and is refused as one.
    yaml: (text) => (/^-?[0-9]+$/.test(text.trim()) ? text.trim() : quoted(text)),
  };
}

/** A text of which `isAllowed` says whether it may be, and `allowed` tells people. */
export function textOf(isAllowed: (text: string) => boolean, allowed: string): ValueKind<string> {
  return {
    yaml: quoted,
    read: (setting) => {
      const text = setting.text();
      if (text === undefined || isAllowed(text)) return text;
      setting.problem(`${JSON.stringify(text.slice(0, 100))} is not allowed; allowed is ${allowed}`);
      return undefined;
    },
  };
}

const hostForm = /^(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):([0-9]{1,5})$/;

/** `host:port`. Port 0, a free one, only where `lowestPort` is 0. */
export function address(lowestPort: 0 | 1): ValueKind<string> {
  return {
    yaml: quoted,
    read: (setting) => {
      const text = setting.text();
      const problem = text === undefined ? undefined : addressProblem(text, lowestPort);
      if (problem === undefined) return text;
      setting.problem(problem);
      return undefined;
    },
  };
}

/** What keeps a text from being `host:port`; undefined: nothing. */
export function addressProblem(text: string, lowestPort: 0 | 1): string | undefined {
  const port = Number(hostForm.exec(text)?.at(-1) ?? Number.NaN);
  if (port >= lowestPort && port <= 65_535) return undefined;
  return `${JSON.stringify(text.slice(0, 100))} is no address; allowed is host:port with a port from ${lowestPort} to 65535`;
}

/** `host:port`, each once. */
export function addresses(maxItems: number): ValueKind<readonly string[]> {
  const one = address(1);
  return {
    yaml: listed,
    read: (setting) => {
      const found: string[] = [];
      for (const item of setting.list({ minItems: 1, maxItems }) ?? []) {
        const text = one.read(item);
        if (text !== undefined && found.includes(text)) item.problem(`${text} is there twice`);
        if (text !== undefined) found.push(text);
      }
      return found;
    },
  };
}
