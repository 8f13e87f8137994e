import { describe, expect, it } from 'vitest';
import { redisServer, redisSettings, shownServer } from './settings.ts';

describe('the address of a Redis server', () => {
  it.each([
    ['127.0.0.1:27220', { host: '127.0.0.1', port: 27_220, tls: false, database: 0 }],
    ['[::1]:6379', { host: '::1', port: 6_379, tls: false, database: 0 }],
    ['redis://r.local', { host: 'r.local', port: 6_379, tls: false, database: 0 }],
    ['redis://[::1]:7000/2', { host: '::1', port: 7_000, tls: false, database: 2 }],
    [
      'rediss://me:a%40b@r.local:7000/',
      { host: 'r.local', port: 7_000, tls: true, database: 0, user: 'me', password: 'a@b' },
    ],
    ['redis://:secret@r.local', { host: 'r.local', port: 6_379, tls: false, database: 0, password: 'secret' }],
  ])('is read from %s', (text, server) => {
    expect(redisServer(text)).toEqual(server);
  });

  it.each([
    ['', 'allowed is host:port'],
    ['r.local', 'allowed is host:port'],
    ['r.local:0', 'port 0'],
    ['r.local:70000', 'port 70000'],
    ['http://r.local', 'allowed is host:port'],
    ['redis://r.local/x', 'database "x"'],
    ['redis://r.local/70000', 'database "70000"'],
    ['redis://r.local?a=b', 'allowed is host:port'],
    ['redis://me:%E0@r.local', 'percent-encoded'],
  ])('is refused: %j', (text, message) => {
    expect(() => redisServer(text)).toThrow(message);
  });

  it('is never shown with its password, well or badly written', () => {
    expect(shownServer(redisServer('redis://me:secret@[::1]:7000'))).toBe('[::1]:7000');
    for (const text of ['me:secret@r.local', 'redis//me:secret@r.local', 'redis://me:secret@r.local/x']) {
      expect(() => redisServer(text)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('secret') }),
      );
    }
  });
});

describe('settings of Redis', () => {
  it('have defaults', () => {
    expect(redisSettings({ maxBatch: 7 })).toMatchObject({ maxBatch: 7, keyPrefix: 'weir:lock:' });
  });

  it.each([
    [{ keyPrefix: '' }, 'keyPrefix: ""'],
    [{ keyPrefix: 'a b' }, 'keyPrefix: "a b"'],
    [{ maxBatch: 0 }, 'maxBatch: 0; allowed is'],
    [{ commandTimeoutMs: 1.5 }, 'commandTimeoutMs: 1.5; allowed is'],
  ])('are refused: %j', (given, message) => {
    expect(() => redisSettings(given)).toThrow(message);
  });
});
