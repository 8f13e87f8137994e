import { describe, expect, it } from 'vitest';
import { CallbackHosts, readCallbackHosts } from './callback-hosts.ts';

function hosts(text: string): CallbackHosts {
  const reading = readCallbackHosts(text);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.hosts;
}

describe('a list of hosts', () => {
  it('allows what is listed, at the standard ports unless it names one', () => {
    const listed = hosts('Hooks.example.com, other.example.com:8080');
    expect(listed.mayCall('hooks.example.com', 443)).toBe(true);
    expect(listed.mayCall('hooks.example.com', 80)).toBe(true);
    expect(listed.mayCall('hooks.example.com', 8080)).toBe(false);
    expect(listed.mayCall('other.example.com', 8080)).toBe(true);
    expect(listed.mayCall('other.example.com', 443)).toBe(false);
    expect(listed.mayCall('example.com', 443)).toBe(false);
    expect(new CallbackHosts().mayCall('hooks.example.com', 443)).toBe(false);
  });

  it.each([
    [''],
    ['a b'],
    ['http://a'],
    ['a/b'],
    ['a:0'],
    ['a:65536'],
    ['a:b'],
    ['[1.2.3.4]'],
    ['-a'],
    ['a,'],
    ['*.a'],
  ])('is refused: %j', (text) => expect(readCallbackHosts(text).ok).toBe(false));
});

describe('an address that a name resolves to', () => {
  it.each([['8.8.8.8'], ['2600::1']])('is called when it is public: %s', (address) => {
    expect(hosts('hooks.example.com').mayConnect(address, 443)).toBe(true);
  });

  it.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['172.31.0.1'],
    ['192.168.0.1'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['0.0.0.0'],
    ['255.255.255.255'],
    ['::1'],
    ['::'],
    ['::ffff:127.0.0.1'],
    ['::ffff:8.8.8.8'],
    ['fd00::1'],
    ['fe80::1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
  ])('is not when it is internal: %s', (address) => {
    expect(hosts('hooks.example.com').mayConnect(address, 443)).toBe(false);
  });

  it('is when it is listed itself, at that port', () => {
    const listed = hosts('127.0.0.1:8080,[fd00:0::7]:8080,10.0.0.7');
    expect(listed.mayConnect('127.0.0.1', 8080)).toBe(true);
    expect(listed.mayConnect('127.0.0.1', 8081)).toBe(false);
    expect(listed.mayConnect('fd00::7', 8080)).toBe(true);
    expect(listed.mayConnect('10.0.0.7', 443)).toBe(true);
    expect(listed.mayConnect('10.0.0.7', 8080)).toBe(false);
  });
});
