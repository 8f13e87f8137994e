import { describe, expect, it } from 'vitest';
import { AllowedAddresses, neverCalled, readNetwork } from './allowed-addresses.ts';

const at = (text: string) => ({ text });

describe('the addresses that modules may have', () => {
  it.each(['127.0.0.1:1', '127.9.9.9:1', '10.1.2.3:80', '172.16.0.1:1', '172.31.255.255:1', '192.168.1.1:1'])(
    'are by default this machine and private networks: %s',
    (address) => expect(new AllowedAddresses().problem(at(address))).toBeUndefined(),
  );

  it.each(['[::1]:1', '[fd12:3456::1]:443', '[fc00::1]:1'])('in IPv6 too: %s', (address) =>
    expect(new AllowedAddresses().problem(at(address))).toBeUndefined(),
  );

  it.each(['8.8.8.8:53', '172.32.0.1:1', '192.169.0.1:1', '[2600::1]:1', '100.64.0.1:1'])(
    'are by default not %s',
    (address) => expect(new AllowedAddresses().problem(at(address))).toContain('is in none of the allowed networks'),
  );

  it('are what is listed, and only that', () => {
    const allowed = new AllowedAddresses(['8.8.0.0/16', '2600::/32']);
    expect(allowed.problem(at('8.8.4.4:53'))).toBeUndefined();
    expect(allowed.problem(at('[2600::5]:53'))).toBeUndefined();
    expect(allowed.problem(at('127.0.0.1:53'))).toBe(
      '127.0.0.1:53 is in none of the allowed networks; they are 8.8.0.0/16, 2600::/32',
    );
  });

  it.each([
    ['169.254.169.254:80', 'link-local'],
    ['0.0.0.0:80', 'no address of a machine'],
    ['255.255.255.255:1', 'multicast or reserved'],
    ['224.0.0.1:1', 'multicast or reserved'],
    ['100.100.100.200:80', 'a metadata service of a cloud'],
    ['[::]:80', 'no address of a machine'],
    ['[fe80::1]:80', 'link-local'],
    ['[fd00:ec2::254]:80', 'a metadata service of a cloud'],
    ['[::ffff:169.254.169.254]:80', 'IPv4 in IPv6'],
    ['[::ffff:a00:1]:80', 'IPv4 in IPv6'],
    ['[64:ff9b::a9fe:a9fe]:80', 'IPv4 in IPv6'],
    ['[2002:a9fe:a9fe::]:80', 'IPv4 in IPv6'],
    ['[ff02::1]:80', 'multicast'],
  ])('are never %s', (address, what) => {
    const everything = new AllowedAddresses(['128.0.0.0/1', '1.0.0.0/1', '::/0']);
    expect(everything.problem(at(address))).toBe(`${address} is ${what}, which is never called`);
    expect(neverCalled(at(address))).toBe(`${address} is ${what}, which is never called`);
  });
});

describe('a network', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.0.0.7', '10.0.0.7/32'],
    ['fd00::/8', 'fd00::/8'],
    ['::1', '::1/128'],
  ])('%s is read', (text, network) => expect(readNetwork(text)).toEqual({ ok: true, network }));

  it.each([
    '',
    'internal',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0/8',
    'fe80::1%eth0',
    '::/129',
    '10.0.0.0/-1',
  ])('%j is refused', (text) =>
    expect(readNetwork(text)).toEqual({
      ok: false,
      problem: `${JSON.stringify(text)} is no network; allowed are IP/prefix and IP, as in 10.0.0.0/8 or fd00::/8`,
    }),
  );

  it('of addresses that are never called is refused', () => {
    expect(readNetwork('169.254.0.0/16')).toEqual({
      ok: false,
      problem: '"169.254.0.0/16" is link-local, which is never called',
    });
  });
});
