import { expect, it } from 'vitest';
import { ConfigurationUnavailable } from '../../platform/coordination/configuration.ts';
import { Code } from '../../platform/rpc/error.ts';
import { HBaseFailure } from '../../store/hbase/client/port.ts';
import { knownFailure } from './known-failures.ts';

it('what is away may be asked again', () => {
  expect(knownFailure(new ConfigurationUnavailable('flows/a', 'no ZooKeeper server answers'))).toMatchObject({
    code: Code.UNAVAILABLE,
    message: 'the configuration of flows/a is unavailable: no ZooKeeper server answers',
  });
  expect(knownFailure(new HBaseFailure('unavailable', 'no answer'))).toMatchObject({
    code: Code.UNAVAILABLE,
    message: 'the store is unavailable: no answer',
  });
});

it('anything else is a bug', () => {
  expect(knownFailure(new HBaseFailure('refused', 'no such table'))).toBeUndefined();
  expect(knownFailure(new TypeError('x'))).toBeUndefined();
});
