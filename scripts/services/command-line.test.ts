import { describe, expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';

describe('readCommandLine', () => {
  it('takes all services when none is named, and each once in one order', () => {
    expect(readCommandLine(['up'])).toEqual({ verb: 'up', names: ['zookeeper', 'redis', 'hbase'] });
    expect(readCommandLine(['down', 'hbase', 'redis', 'hbase'])).toEqual({ verb: 'down', names: ['redis', 'hbase'] });
  });

  it.each([
    [[], 'what to do is missing'],
    [['start'], 'there is no "start"; allowed are up, down, status, install'],
    [['up', 'kafka'], 'there is no service "kafka"; allowed are zookeeper, redis, hbase'],
    [['toString'], 'there is no "toString"'],
  ])('refuses %j and says what is allowed', (args, message) => {
    expect(() => readCommandLine(args)).toThrow(message);
    expect(() => readCommandLine(args)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
