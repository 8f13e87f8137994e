// Single steps of every kind but switches and joins, as flows.ts and joined.ts build on them.

import {
  call,
  callbackModules,
  callKeys,
  common,
  type Draft,
  newId,
  outputs,
  type Single,
  signalNames,
} from './draft.ts';

/** One step, of any kind that fits here. */
export const single: Single = (draft, after) => {
  const { random, making } = draft;
  if (making.isPlain || random.chance(0.35)) return call(draft, after);
  const fitting: Single[] = [wait, callback, list, signal];
  if (making.children.length > 0) fitting.push(subFlow, subFlow, list);
  if (making.starts.length > 0 && random.chance(0.3)) fitting.push(startFlow);
  return random.pick(fitting)(draft, after);
};

const wait: Single = (draft, after) => {
  const { random, steps } = draft;
  const id = newId(draft);
  const seconds = random.between(0, 59);
  const time = `"2026-01-01T00:0${random.between(0, 2)}:${String(seconds).padStart(2, '0')}Z"`;
  const until = random.chance(0.2);
  steps[id] = {
    ...common(draft, after),
    wait: until ? { until: time } : { for: random.pick(['100ms', '1s', '1s', '5s', '20s']) },
  };
  return id;
};

const signal: Single = (draft, after) => {
  const { random, steps, fields, numbers, signals } = draft;
  const name = signalNames.find((each) => !signals.has(each));
  if (name === undefined) return wait(draft, after);
  signals.add(name);
  const id = newId(draft);
  const number = `${name}_number`;
  fields[number] = { type: 'int', default: 0 };
  numbers.push(number);
  const timeout = random.pick(['1s', '10s', '20s']);
  steps[id] = {
    ...common(draft, after),
    wait: { signal: name, receive: [number], timeout, on_timeout: random.pick(['pass', 'pass', 'fail']) },
  };
  return id;
};

const callback: Single = (draft, after) => {
  const { random, steps } = draft;
  const id = newId(draft);
  const { call: module, ...keys } = callKeys(draft, id);
  steps[id] = {
    ...common(draft, after),
    callback: `${callbackModules}${String(module)}`,
    ...keys,
    receive: outputs(draft, id),
    answer_within: random.pick(['1s', '5s', '10s']),
  };
  return id;
};

const subFlow: Single = (draft, after) => {
  const { random, steps } = draft;
  const id = newId(draft);
  steps[id] = { ...common(draft, after), ...childKeys(draft), send: sent(draft) };
  if (random.chance(0.1)) delete steps[id]['receive'];
  return id;
};

const startFlow: Single = (draft, after) => {
  const { random, making, steps } = draft;
  const id = newId(draft);
  steps[id] = {
    ...common(draft, after),
    start_flow: random.pick(making.starts),
    send: ['size'],
    max_generations: random.between(1, 3),
  };
  return id;
};

const list: Single = (draft, after) => {
  const { random, making, steps, fields } = draft;
  const id = newId(draft);
  const results = `${id}_results`;
  fields[results] = { type: 'json', default: [] };
  const first = common(draft, after);
  const isOfChildren = making.children.length > 0 && random.chance(0.5);
  const branch = isOfChildren
    ? { ...childOf(draft), send: random.pick([[], ['size']]) }
    : { ...callKeys(draft, id), receive: outputs(draft, id) };
  steps[id] = {
    ...first,
    // Lists of children are short: each is a run.
    for_each: isOfChildren || random.chance(0.3) ? literal(draft) : 'list',
    as: 'element',
    ...branch,
    into: results,
    concurrency: random.pick([1, 2, 2, 3]),
    max_failures: random.pick([0, 1, 'all']),
  };
  return id;
};

function literal({ random }: Draft): string {
  const count = random.pick([0, 1, 2, 2, 3]);
  return `[${Array.from({ length: count }, (_, index) => (random.chance(0.5) ? `"e${index}"` : index)).join(', ')}]`;
}

/** The keys of a step that waits for a child, which leaves fields of which no other step has taken one. */
function childKeys(draft: Draft): Record<string, unknown> {
  const { received, fields, numbers } = draft;
  const { receive, ...keys } = childOf(draft);
  const free = receive.filter((name) => !received.has(name)).slice(0, 2);
  for (const name of free) {
    received.add(name);
    fields[name] = { type: 'int', default: 0 };
    numbers.push(name);
  }
  return { ...keys, receive: free };
}

function childOf({ random, making }: Draft): { sub_flow: string; version: number; receive: readonly string[] } {
  const { name, leaves } = random.pick(making.children);
  return { sub_flow: name, version: random.between(1, making.version), receive: leaves };
}

function sent({ random, numbers }: Draft): string[] {
  return [...new Set(['size', random.pick([...numbers, 'list'])])];
}
