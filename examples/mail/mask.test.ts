import { describe, expect, it } from 'vitest';
import { maskAddress, maskAddresses, maskMailbox } from './mask.ts';

describe('maskAddress', () => {
  it.each([
    ['anna@example.com', 'a***@e***.com'],
    ['anna.lee+list@mail.example.co.uk', 'a***@m***.uk'],
    ['"odd@name"@example.com', 'o***@e***.com'],
    ['root@localhost', 'r***@l***'],
    ['root@[127.0.0.1]', 'r***@1***'],
    ['nobody', '***'],
    ['', '***'],
  ])('%s', (address, masked) => {
    expect(maskAddress(address)).toBe(masked);
  });
});

describe('maskAddresses', () => {
  it.each([
    ['write to <anna@example.com>, or bob@example.org.', 'write to <a***@e***.com>, or b***@e***.org.'],
    ['mailto:anna@example.com?subject=x', 'mailto:a***@e***.com?subject=x'],
    ['http://example.com/off?who=anna%40example.com', 'http://example.com/off?w***@e***.com'],
    ['anna&#64;example.com', 'a***@e***.com'],
    ['anna (at) example.com', 'a***@e***.com'],
    ['anna at example dot com', 'a***@e***.com'],
    ['list-bounce-anna=example.com@lists.example.org', 'l***@l***.org'],
    ['jürgen@müller.de', 'j***@m***.de'],
    ['From: "Anna Lee" <anna@example.com>', 'From: A*** L*** <a***@e***.com>'],
    ['an@b, cd@e', 'a***@b***, c***@e***'],
  ])('%s', (text, masked) => {
    expect(maskAddresses(text)).toBe(masked);
  });

  it('leaves other text alone', () => {
    const text = 'Meet @ noon: 5 apples at 3.50, look at this.\n100% = all';
    expect(maskAddresses(text)).toBe(text);
  });

  it('changes nothing the second time', () => {
    const once = maskAddresses('anna@example.com and bob@localhost');
    expect(maskAddresses(once)).toBe(once);
  });
});

describe('maskMailbox', () => {
  it.each([
    [{ name: 'Anna Lee', address: 'anna@example.com' }, 'A*** L*** <a***@e***.com>'],
    [{ name: '', address: 'anna@example.com' }, 'a***@e***.com'],
    [{ name: 'anna@example.com', address: 'anna@example.com' }, 'a***@e***.com'],
    [{ name: 'one two three four five', address: '' }, 'o*** t*** t*** f*** <***>'],
  ])('%o', (mailbox, masked) => {
    expect(maskMailbox(mailbox)).toBe(masked);
  });
});
