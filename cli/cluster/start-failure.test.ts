import { expect, it } from 'vitest';
import { RedisRefusedError } from '../../platform/coordination/redis/connection.ts';
import { HBaseFailure } from '../../store/hbase/client/port.ts';
import { StoreTableError } from '../../store/hbase/table.ts';
import { usageFailure } from '../failure.ts';
import { startFailure } from './start-failure.ts';

const servers = ['one:1', 'two:2'];

it.each([
  [new StoreTableError('no such table'), 2, 'HBase at one:1, two:2: no such table'],
  [new RedisRefusedError('Redis at a:1: it drops keys'), 2, 'Redis at a:1: it drops keys'],
  [new HBaseFailure('unavailable', 'no answer'), 1, 'HBase at one:1, two:2: no answer'],
  [new Error('cannot listen on a:1'), 1, 'cannot listen on a:1'],
  ['text', 1, 'text'],
])('%s', (thrown, exitCode, message) => {
  expect(startFailure(thrown, servers)).toMatchObject({ exitCode, message });
});

it('what is said already stays as it is', () => {
  const failure = usageFailure('--flows: nothing was started');
  expect(startFailure(failure, servers)).toBe(failure);
});
