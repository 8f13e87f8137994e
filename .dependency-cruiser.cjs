// Import direction: which folder may import which. Type imports count; `import('…')` as a type, which cannot be seen
// here, is forbidden by .oxlintrc.json.

// dependency-cruiser reads TypeScript through swc (it has no support for TypeScript 7). Without swc it would find no
// files and report no violations: fail instead.
require.resolve('@swc/core');

// Everything of ours that a folder may import besides its own files. A folder that is not listed fails.
const table = {
  proto: [],
  flow: ['proto/gen'],
  platform: ['proto/gen'],
  store: ['flow', 'platform', 'proto/gen'],
  'spout/core': ['flow', 'proto/gen'],
  spout: ['store', 'platform', 'proto/gen'],
  'dispatch/core': ['flow', 'proto/gen'],
  dispatch: ['flow', 'store', 'platform', 'proto/gen'],
  portal: ['flow', 'store', 'platform', 'proto/gen'],
  workers: ['platform/rpc', 'proto/gen'],
  cli: ['flow', 'store', 'spout', 'dispatch', 'portal', 'platform', 'workers', 'proto/gen'],
  bench: [
    'flow',
    'store',
    'spout',
    'dispatch',
    'portal',
    'platform',
    'workers',
    'cli',
    'examples',
    'scripts',
    'proto/gen',
  ],
  scripts: ['flow'],
};

const libraries = ['(^|/)node_modules/'];
const own = (folders) => folders.map((folder) => `^${folder}/`);
const tests = '[.]test[.]ts$';

const ruleName = (folder, rest) => `${folder.replace('/', '-')}-${rest}`;

const direction = Object.entries(table).map(([folder, allowed]) => ({
  name: ruleName(folder, 'direction'),
  comment: `${folder}/ may import ${allowed.join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: { path: own([folder]), pathNot: own([`${folder}/core`]) },
  to: { pathNot: [...own([folder, ...allowed]), ...libraries], dependencyTypesNot: ['core'] },
}));

// A core is a function of its arguments: what it may import is listed to the last library, and no node: module is.
const pure = (folder, allowedLibraries) => ({
  name: ruleName(folder, 'is-pure'),
  comment: `${folder}/ decides and applies; it does no I/O and knows no adapter.`,
  severity: 'error',
  from: { path: own([folder]), pathNot: [tests] },
  to: { pathNot: own([folder, ...table[folder], ...allowedLibraries.map((name) => `node_modules/${name}`)]) },
});
const pureLibraries = ['@bufbuild/protobuf', '@bufbuild/cel'];

module.exports = {
  forbidden: [
    ...direction,
    pure('flow', [...pureLibraries, '@noble/hashes', 'yaml']),
    pure('dispatch/core', pureLibraries),
    pure('spout/core', pureLibraries),
    {
      name: 'cores-take-types-from-flow',
      comment: 'The cores of dispatch and spout share the words of flow, not its behaviour.',
      severity: 'error',
      from: { path: own(['dispatch/core', 'spout/core']), pathNot: [tests] },
      to: { path: own(['flow']), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'rpc-is-a-leaf',
      comment: 'platform/rpc is what workers share with the engine, so it drags nothing of the engine along.',
      severity: 'error',
      from: { path: own(['platform/rpc']) },
      to: { pathNot: [...own(['platform/rpc', 'proto/gen']), ...libraries], dependencyTypesNot: ['core'] },
    },
    {
      name: 'examples-direction',
      comment: 'An example is written as a user would: its own files and packages by name (@weir/module).',
      severity: 'error',
      from: { path: '^examples/([^/]+)/' },
      to: { pathNot: ['^examples/$1/', ...libraries], dependencyTypesNot: ['core', 'aliased-workspace'] },
    },
    {
      name: 'only-test-imports-test',
      severity: 'error',
      from: { pathNot: own(['test']) },
      to: { path: own(['test']) },
    },
    {
      name: 'no-circular',
      comment: 'Two files that import each other are one file, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'every-folder-is-in-the-table',
      comment: 'A new top folder gets a line in the table above.',
      severity: 'error',
      from: {
        path: '/',
        pathNot: [...own([...Object.keys(table), 'examples', 'test']), ...libraries],
      },
      to: {},
    },
  ],
  options: {
    parser: 'swc',
    // The root names the workspaces, so a package name that leads into one is told from a path that does.
    combinedDependencies: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(weir-data|[.]services|[.]cache|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
