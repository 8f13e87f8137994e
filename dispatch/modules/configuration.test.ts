import { describe, expect, it } from 'vitest';
import { defaultNetworks } from './allowed-addresses.ts';
import { readDirectory, readModules } from './configuration.ts';

function problemsOf(text: string): string[] {
  const reading = readModules(text);
  if (reading.ok) return [];
  return reading.problems.map(({ path, message, line, column }) => `${path} (${line}:${column}): ${message}`);
}

const nothing = 'has no endpoints; allowed are a list `endpoints`, a name `dns`, `register: true`, or several of them';

describe('readModules', () => {
  it('reads modules, endpoints and concurrency', () => {
    const reading = readModules(`
modules:
  mail.parse: { endpoints: ['127.0.0.1:27101'], concurrency: 32 }
  mail.score: { endpoints: ['127.0.0.1:27103', '[::1]:27203'] }
`);
    expect(reading).toEqual({
      ok: true,
      value: [
        {
          name: 'mail.parse',
          endpoints: [{ text: '127.0.0.1:27101', target: 'ipv4:127.0.0.1:27101' }],
          concurrency: 32,
        },
        {
          name: 'mail.score',
          endpoints: [
            { text: '127.0.0.1:27103', target: 'ipv4:127.0.0.1:27103' },
            { text: '[::1]:27203', target: 'ipv6:[::1]:27203' },
          ],
          concurrency: 64,
        },
      ],
    });
  });

  it('reads JSON, and an empty map', () => {
    expect(readModules('{"modules":{"a":{"endpoints":["10.0.0.1:80"]}}}').ok).toBe(true);
    expect(readModules('modules: {}')).toEqual({ ok: true, value: [] });
  });

  it.each([
    ['', ' (0:0): nothing is not a map'],
    ['modules:', 'modules (1:9): nothing is not a map'],
    ['{}', ' (1:1): modules is absent; allowed is a map from module names to endpoints'],
    ['modules: {a: {}}', `modules.a (1:14): ${nothing}`],
    ['modules: {a: {register: false}}', `modules.a (1:14): ${nothing}`],
    ['modules: {a: {endpoints: []}}', 'modules.a.endpoints (1:26): 0 items, allowed are 1 to 256'],
    ['modules: {a: {endpoints: here}}', 'modules.a.endpoints (1:26): "here" is not a list'],
    ['modules: {a: {endpoints: [7]}}', 'modules.a.endpoints[0] (1:27): 7 is not a string'],
    [
      'modules: {a: {endpoints: ["10.0.0.1:1"], concurrency: 0}}',
      'modules.a.concurrency (1:55): 0 is not a whole number from 1 to 10000',
    ],
    [
      'modules: {a: {endpoints: ["10.0.0.1:1"], concurrency: 1.5}}',
      'modules.a.concurrency (1:55): 1.5 is not a whole number from 1 to 10000',
    ],
    [
      'modules: {a: {endpoints: ["10.0.0.1:1"], weight: 2}}',
      'modules.a.weight (1:50): is unknown; allowed are endpoints, dns, register, concurrency',
    ],
    ['module: {}\nmodules: {}', 'module (1:9): is unknown; allowed are modules, register, addresses'],
    [
      'modules: {a: {endpoints: ["10.0.0.1:1", "10.0.0.1:01"]}}',
      'modules.a.endpoints[1] (1:41): 10.0.0.1:1 is there twice',
    ],
    ['modules:\n  a: {endpoints: ["10.0.0.1:1"]}\n  a: {endpoints: ["10.0.0.1:2"]}', 'modules.a (3:3): is there twice'],
    [
      'modules: {a: &x {endpoints: ["10.0.0.1:1"]}, b: *x}',
      'modules.b (1:49): alias *x (aliases are not resolved; write the value here) is not a map',
    ],
  ])('refuses %j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it.each([
    ['localhost:27101', 'is a name, which may mean 127.0.0.1 or [::1]'],
    ['dns:mail:27101', 'is no address; allowed is IP:port'],
    ['unix:/tmp/socket', 'is no address'],
    ['mail.example:27101', 'is no address'],
    ['ipv4:127.0.0.1:27101', 'is no address'],
    ['127.0.0.1', 'is no address'],
    ['127.0.0.1:0', 'port 0 of'],
    ['127.0.0.1:65536', 'port 65536 of'],
    ['127.0.0.1:1, 127.0.0.1:2', 'is no address'],
    ['::1:27101', 'is no address'],
    ['[::1%eth0]:27101', 'is no address'],
    ['[127.0.0.1]:27101', 'is no address'],
    ['169.254.169.254:80', 'is link-local, which is never called'],
  ])('refuses the address %s', (address, problem) => {
    const [found, ...others] = problemsOf(JSON.stringify({ modules: { a: { endpoints: [address] } } }));
    expect(found).toContain('modules.a.endpoints[0]');
    expect(found).toContain(problem);
    expect(others).toEqual([]);
  });

  it('names all problems of a text at once', () => {
    expect(problemsOf('modules: {A b: {endpoints: [x]}, c: {concurrency: yes}}')).toHaveLength(4);
    expect(problemsOf('{register: [A], addresses: [x], modules: {a: {dns: x, register: 1}}}')).toHaveLength(4);
  });

  it('refuses what is too large', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`m${i}`, { endpoints: ['10.0.0.1:1'] }]));
    expect(problemsOf(JSON.stringify({ modules: many }))).toEqual([
      'modules (1:12): 1001 modules, at most 1000 are allowed',
    ]);
    const addresses = Array.from({ length: 257 }, (_, i) => `10.0.0.1:${i + 1}`);
    expect(problemsOf(JSON.stringify({ modules: { a: { endpoints: addresses } } }))).toEqual([
      'modules.a.endpoints (1:30): 257 items, allowed are 1 to 256',
    ]);
    expect(problemsOf(`# ${'x'.repeat(1024 * 1024)}`)).toEqual([' (0:0): 1048578 bytes, at most 1048576 are allowed']);
  });

  it('says where the text is no YAML', () => {
    expect(problemsOf('modules: {a: [')).not.toEqual([]);
    expect(problemsOf('modules:\n  a: "')[0]).toMatch(/\(2:/);
    expect(problemsOf('['.repeat(20_000)).length).toBeGreaterThan(0);
    expect(problemsOf('modules: !!js/function x').length).toBeGreaterThan(0);
  });
});

describe('readDirectory', () => {
  it('reads names of the DNS, who may register, and allowed networks', () => {
    const text = `
modules:
  a: { dns: 'a.internal:80' }
  b: { register: true, concurrency: 5 }
  c: { endpoints: ['127.0.0.1:1'], dns: 'c:2', register: false }
register: [text.upper, 'mail.*']
addresses: [10.20.0.0/16, '::1']
`;
    expect(readDirectory(text)).toEqual({
      ok: true,
      value: {
        modules: [
          { name: 'a', endpoints: [], concurrency: 64, dns: { host: 'a.internal', port: 80 } },
          { name: 'b', endpoints: [], concurrency: 5, register: true },
          {
            name: 'c',
            endpoints: [{ text: '127.0.0.1:1', target: 'ipv4:127.0.0.1:1' }],
            concurrency: 64,
            dns: { host: 'c', port: 2 },
            register: false,
          },
        ],
        register: ['text.upper', 'mail.*'],
        networks: ['10.20.0.0/16', '::1/128'],
      },
    });
  });

  it('lets nobody register and allows private networks when nothing is said', () => {
    expect(readDirectory('modules: {}')).toEqual({
      ok: true,
      value: { modules: [], register: [], networks: defaultNetworks },
    });
    expect(readDirectory("register: ['a.*']").ok).toBe(true);
  });

  it.each([
    [
      'register: [Mail]',
      'register[0] (1:12): "Mail" is not allowed; allowed are names of modules, and text.* for all that begin with text.',
    ],
    [
      "register: ['*']",
      'register[0] (1:12): "*" is not allowed; allowed are names of modules, and text.* for all that begin with text.',
    ],
    ['{modules: {}, addresses: []}', 'addresses (1:26): 0 items, allowed are 1 to 100'],
    [
      '{modules: {}, addresses: [169.254.0.0/16]}',
      'addresses[0] (1:27): "169.254.0.0/16" is link-local, which is never called',
    ],
    [
      'modules: {a: {dns: "a"}}',
      'modules.a.dns (1:20): "a" is no name with a port; allowed is as in score.mail.internal:27103',
    ],
    [
      'modules: {a: {dns: "10.0.0.1:80"}}',
      'modules.a.dns (1:20): "10.0.0.1:80" is an address; list it under endpoints',
    ],
    ['modules: {a: {dns: "[::1]:80"}}', 'modules.a.dns (1:20): "[::1]:80" is an address; list it under endpoints'],
    ['modules: {a: {dns: "a:0"}}', 'modules.a.dns (1:20): port 0 of "a:0" is not from 1 to 65535'],
    ['modules: {a: {register: 1}}', 'modules.a.register (1:25): 1 is not true or false'],
  ])('refuses %j', (text, problem) => {
    const reading = readDirectory(text);
    expect(
      reading.ok
        ? []
        : reading.problems.map(({ path, message, line, column }) => `${path} (${line}:${column}): ${message}`),
    ).toEqual([problem]);
  });
});
