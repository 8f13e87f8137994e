import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';

function logged(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger({ nowMs: () => Date.UTC(2026, 0, 1) }, (line) => lines.push(line)));
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

describe('createLogger', () => {
  it('writes time, level, message and fields', () => {
    const line = logged((logger) => logger.info('ready', { address: '127.0.0.1:27100', flows: 2, absent: undefined }));
    expect(line).toBe('2026-01-01T00:00:00.000Z info ready address=127.0.0.1:27100 flows=2');
  });

  it('quotes what has spaces, and stays on one line', () => {
    const line = logged((logger) => logger.warn('slow', { doing: 'a "claim"\nof a run' }));
    expect(line).toBe('2026-01-01T00:00:00.000Z warn slow doing="a \\"claim\\"\\nof a run"');
  });

  it('tells an error with its stack and its cause', () => {
    const line = logged((logger) => logger.error('failed', new Error('outer', { cause: new Error('inner') })));
    expect(line).toMatch(/error failed error="Error: outer\\n {4}at .*" cause="Error: inner/);
  });

  it('tells what was thrown and is no error', () => {
    expect(logged((logger) => logger.error('failed', 'a text'))).toContain('error="a text"');
  });

  it('cuts long values', () => {
    expect(logged((logger) => logger.info('long', { text: 'x '.repeat(10_000) })).length).toBeLessThan(4_100);
  });
});
