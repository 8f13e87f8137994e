import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.ts';

const parse = (...commandLine: string[]) => parseOptions(commandLine, 100);

describe('parseOptions', () => {
  it('has a default for everything', () => {
    expect(parse()).toEqual({
      kind: 'run',
      options: { exit: false, cluster: false, json: false, data: './weir-data', limit: 100 },
    });
  });

  it('takes all options', () => {
    expect(parse('--exit', '--cluster', '--json', '--data', 'd', '--limit=7')).toEqual({
      kind: 'run',
      options: { exit: true, cluster: true, json: true, data: 'd', limit: 7 },
    });
    expect(parse('--help')).toEqual({ kind: 'help' });
  });

  it.each([
    [['--fast'], "Unknown option '--fast'"],
    [['mails'], "Unexpected argument 'mails'"],
    [['--data'], "Option '--data <value>' argument missing"],
    [['--data='], '--data: found an empty name, a folder is needed'],
    [['--limit', '0'], "--limit: found '0', a number from 1 to 100 is needed"],
    [['--limit', '101'], "--limit: found '101', a number from 1 to 100 is needed"],
    [['--limit', '1e1'], "--limit: found '1e1', a number from 1 to 100 is needed"],
    [['--exit=yes'], "Option '--exit' does not take an argument"],
  ])('refuses %j', (commandLine, message) => {
    expect(parse(...commandLine)).toEqual({ kind: 'mistake', message });
  });
});
