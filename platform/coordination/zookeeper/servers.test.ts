import { describe, expect, it } from 'vitest';
import { checkPlace } from './servers.ts';

describe('checkPlace', () => {
  it('takes servers and a root', () => {
    expect(() => checkPlace({ servers: ['127.0.0.1:2181', 'zk-2.example:65535'], root: '' })).not.toThrow();
    expect(() => checkPlace({ servers: ['a:1'], root: '/weir/test-1' })).not.toThrow();
  });

  for (const server of ['', 'a', ':1', 'a:', 'a:0', 'a:65536', 'a:x', 'a b:1', 'a:1,b:2', 'a:1/root']) {
    it(`refuses the server ${JSON.stringify(server)}, naming it`, () => {
      expect(() => checkPlace({ servers: ['a:1', server], root: '' })).toThrow(JSON.stringify(server));
    });
  }

  for (const root of ['/', 'weir', '/weir/', '//weir', '/../weir', '/./weir', '/ä', '/a b']) {
    it(`refuses the root ${JSON.stringify(root)}, naming it`, () => {
      expect(() => checkPlace({ servers: ['a:1'], root })).toThrow(JSON.stringify(root));
    });
  }

  it('refuses no servers', () => {
    expect(() => checkPlace({ servers: [], root: '' })).toThrow('at least one');
  });
});
