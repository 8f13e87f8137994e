import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { directoryPath, listening } from './directory.ts';

const read = (path: string | URL) => parse(readFileSync(path, 'utf8')) as never;
const { steps } = read(new URL('../mail-intake.flow.yaml', import.meta.url)) as {
  steps: Record<string, { call?: string }>;
};
const { modules } = read(directoryPath) as { modules: Record<string, { endpoints: string[] }> };

describe('modules.yaml', () => {
  it('lists the modules that the flow calls', () => {
    const called = Object.values(steps).flatMap(({ call }) => call ?? []);
    expect(Object.keys(modules).sort()).toEqual([...new Set(called)].sort());
  });

  it('gives each endpoint a port of its own, below those that clients get', () => {
    const ports = Object.values(modules).flatMap(({ endpoints }) =>
      endpoints.map((address) => Number(address.split(':')[1])),
    );
    expect(new Set(ports).size).toBe(ports.length);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });
});

describe('listening', () => {
  it('is what modules.yaml says', () => {
    expect(listening('mail.score', 1)).toEqual({ address: '127.0.0.1:27203', concurrency: 16 });
    expect(() => listening('mail.score', 2)).toThrow('modules.yaml: mail.score has no endpoint number 3');
  });
});
