// Logs for people and for programs: one line each, `time level message name=value …` (logfmt). Never payloads: item keys and
// names may stand there, values of fields may not.

import { inspect } from 'node:util';
import type { Clock } from '../clock/clock.ts';

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** `thrown` is what was caught; its stack goes into the line. */
  error(message: string, thrown?: unknown, fields?: LogFields): void;
}

/** Characters of one value: a stack has a few hundred, and a line must not flood the log. */
const maxValueCharacters = 4_000;

/** `write` gets lines without their end. */
export function createLogger(clock: Pick<Clock, 'nowMs'>, write: (line: string) => void): Logger {
  const log = (level: string, message: string, fields: LogFields): void => {
    const parts = [new Date(clock.nowMs()).toISOString(), level, message];
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) parts.push(`${name}=${printable(value)}`);
    }
    write(parts.join(' '));
  };
  return {
    info: (message, fields = {}) => log('info', message, fields),
    warn: (message, fields = {}) => log('warn', message, fields),
    error: (message, thrown, fields = {}) => log('error', message, { ...fields, ...described(thrown) }),
  };
}

function printable(value: string | number | boolean): string {
  const text = String(value);
  const short = text.length > maxValueCharacters ? `${text.slice(0, maxValueCharacters)}…` : text;
  return /^[\w.:/#@+-]+$/.test(short) ? short : JSON.stringify(short);
}

function described(thrown: unknown): LogFields {
  if (thrown === undefined) return {};
  if (!(thrown instanceof Error)) return { error: shown(thrown) };
  const { cause } = thrown;
  return {
    error: shown(thrown),
    ...(cause === undefined ? {} : { cause: shown(cause) }),
  };
}

function shown(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.stack ?? thrown.message;
  return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 0, breakLength: Infinity });
}
