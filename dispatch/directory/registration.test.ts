import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { RegistrationSchema } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { readDirectory } from '../modules/configuration.ts';
import { peerHost, RegistrationRules } from './registration.ts';

function rulesOf(text: string): RegistrationRules {
  const reading = readDirectory(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return new RegistrationRules(reading.value);
}

const rules = rulesOf(`
modules:
  mail.place: { register: true, concurrency: 7 }
  mail.score: { endpoints: ['127.0.0.1:1'] }
  text.fixed: { endpoints: ['127.0.0.1:1'], register: false }
register: ['text.*']
`);
const peer = '10.1.2.3:40000';
const check = (registration: MessageInitShape<typeof RegistrationSchema>) =>
  rules.check(create(RegistrationSchema, { module: 'mail.place', address: ':80', ...registration }), peer);

function refusalOf(registration: MessageInitShape<typeof RegistrationSchema>, by = rules, from = peer): string {
  try {
    by.check(create(RegistrationSchema, { module: 'mail.place', address: ':80', ...registration }), from);
  } catch (error) {
    if (error instanceof RpcError) return `${Code[error.code]} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('a registration', () => {
  it('gets what it does not say', () => {
    expect(check({})).toEqual({
      ...{ module: 'mail.place', address: '10.1.2.3:80', weight: 1, version: '', unit: '', labels: {}, concurrency: 7 },
    });
    expect(check({ module: 'text.upper' }).concurrency).toBe(64);
  });

  it('keeps what it says', () => {
    const said = { address: '[fd00::7]:443', weight: 100, version: '1.2 β', unit: 'north', labels: { rack: '7' } };
    expect(check({ ...said, concurrency: 10_000 })).toEqual({ module: 'mail.place', concurrency: 10_000, ...said });
  });

  it.each([
    [{ module: '' }, /^INVALID_ARGUMENT module: found "", allowed is words of a-z/],
    [{ module: 'Mail' }, /^INVALID_ARGUMENT module: found "Mail", allowed is words of a-z/],
    [
      { module: 'mail.score' },
      /^PERMISSION_DENIED module: "mail.score" is not among those that may register here; those are mail.place, text.\*$/,
    ],
    [{ module: 'text.fixed' }, /^PERMISSION_DENIED module: /],
    [{ module: 'textile' }, /^PERMISSION_DENIED module: /],
    [{ address: '' }, /^INVALID_ARGUMENT address: "" is no address; allowed is IP:port, .*, or :port for where/],
    [{ address: 'mail.internal:80' }, /^INVALID_ARGUMENT address: "mail.internal:80" is no address/],
    [{ address: ':0' }, /^INVALID_ARGUMENT address: port 0 /],
    [{ address: 'unix:/tmp/socket' }, /^INVALID_ARGUMENT address: /],
    [
      { address: '8.8.8.8:80' },
      /^PERMISSION_DENIED address: 8.8.8.8:80 is in none of the allowed networks; they are 127/,
    ],
    [{ address: '169.254.169.254:80' }, /^PERMISSION_DENIED address: 169.254.169.254:80 is link-local, which is never/],
    [{ weight: 101 }, /^INVALID_ARGUMENT weight: found 101, allowed is 1 to 100$/],
    [{ concurrency: 10_001 }, /^INVALID_ARGUMENT concurrency: found 10001, allowed is 1 to 10000$/],
    [{ version: 'x'.repeat(65) }, /^INVALID_ARGUMENT version: found "x+", allowed is up to 64 printable characters$/],
    [{ unit: 'a\u001b[2J' }, /^INVALID_ARGUMENT unit: found "a\\u001b\[2J", allowed is/],
    [{ labels: { '': 'x' } }, /^INVALID_ARGUMENT labels: found a label without a name/],
    [{ labels: { ['x'.repeat(65)]: 'x' } }, /^INVALID_ARGUMENT labels: found "x+"/],
    [
      { labels: { rack: 'x'.repeat(257) } },
      /^INVALID_ARGUMENT labels.rack: found .*… \(257 characters\), allowed is up to 256/,
    ],
    [
      { labels: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`l${index}`, ''])) },
      /^INVALID_ARGUMENT labels: found 17, allowed is up to 16$/,
    ],
  ])('is refused with the field, what was found and what is allowed: %j', (registration, refusal) => {
    expect(refusalOf(registration)).toMatch(refusal);
  });

  it('is refused everywhere by default', () => {
    expect(refusalOf({}, rulesOf('modules: {}'))).toBe(
      'PERMISSION_DENIED module: "mail.place" is not among those that may register here; none is',
    );
  });

  it('can not take the address of a peer that nobody knows', () => {
    expect(refusalOf({}, rules, 'unknown')).toMatch(/^INVALID_ARGUMENT address: /);
  });
});

describe('the host of a peer', () => {
  it.each([
    ['127.0.0.1:1', '127.0.0.1'],
    ['::1:50000', '[::1]'],
    ['[::1]:50000', '[::1]'],
    ['::ffff:10.0.0.1:50000', '10.0.0.1'],
    ['[::ffff:10.0.0.1]:50000', '10.0.0.1'],
  ])('of %s is %s', (peer, host) => expect(peerHost(peer)).toBe(host));
});
