// What a flow may say of other flows: each rule of link.ts with flows that it accepts and flows that it refuses.

import { describe, expect, it } from 'vitest';
import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { locateFaults, parseFlow } from './definition.ts';
import { type FlowLookUp, flowsNamed, type LinkRule, linkFlow, linkRules } from './link.ts';
import type { FlowFault } from './problem.ts';
import { subFlowOf } from './validation/view.ts';

function textOf(name: string, ...steps: string[]): string {
  const fields = 'fields: { results: json, language: { type: string, default: en } }';
  return [`flow: ${name}`, 'business: b', fields, 'steps:', ...steps.map((step) => `  ${step}`)].join('\n');
}

function flowOf(name: string, ...steps: string[]): Flow {
  const parsed = parseFlow(textOf(name, ...steps));
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.flow;
}

/** Published versions, from 1 on; the last of a flow is its released one. */
function catalogue(...flows: Flow[]): FlowLookUp {
  return (name, version) => {
    const versions = flows.filter((flow) => flow.name === name);
    const wanted = version === 0 ? versions.length : version;
    const flow = versions[wanted - 1];
    return flow && { flow, version: wanted };
  };
}

const leaf = flowOf('leaf', 'a: { call: m, send: [body], receive: [title] }');
/** `f0` waits for `f1`, and so on: as many levels of sub-flows. */
const row = (levels: number): Flow[] =>
  Array.from({ length: levels + 1 }, (_, index) =>
    index < levels ? flowOf(`f${index}`, `a: { sub_flow: f${index + 1} }`) : flowOf(`f${index}`, 'a: { call: m }'),
  );
const rowNames = (levels: number): string =>
  row(levels)
    .map(({ name }) => name)
    .join(' -> ');

interface Case {
  readonly flow: Flow;
  readonly others: readonly Flow[];
}

const cases: Record<LinkRule, { accepts: readonly Case[]; refuses: ReadonlyArray<Case & Omit<FlowFault, 'rule'>> }> = {
  'references.flow': {
    accepts: [
      { flow: flowOf('f', 'a: { sub_flow: leaf }'), others: [leaf] },
      { flow: flowOf('f', 'a: { sub_flow: leaf, version: 1 }'), others: [leaf, leaf] },
      { flow: flowOf('f', 'a: { start_flow: leaf }', 'b: { start_flow: f }'), others: [leaf] },
      { flow: flowOf('f', "a: { for_each: '[1]', as: page, sub_flow: leaf, into: results }"), others: [leaf] },
    ],
    refuses: [
      {
        flow: flowOf('f', 'a: { sub_flow: leav }'),
        others: [leaf],
        path: 'steps.a.sub_flow',
        message: `no flow is called "leav"; did you mean 'leaf'?`,
      },
      {
        flow: flowOf('f', 'a: { start_flow: elsewhere }'),
        others: [leaf],
        path: 'steps.a.start_flow',
        message: 'no flow is called "elsewhere"',
      },
      {
        flow: flowOf('f', 'a: { sub_flow: leaf, version: 3 }'),
        others: [leaf, leaf],
        path: 'steps.a.version',
        message: 'flow leaf has no version 3; 2 is released',
      },
      {
        flow: flowOf('f', "a: { for_each: '[1]', as: page, sub_flow: leafs, into: results }"),
        others: [leaf],
        path: 'steps.a.sub_flow',
        message: `no flow is called "leafs"; did you mean 'leaf'?`,
      },
    ],
  },
  'references.child-fields': {
    accepts: [
      { flow: flowOf('f', 'a: { sub_flow: leaf, receive: [title] }'), others: [leaf] },
      // What the child was sent, and what has a default there.
      { flow: flowOf('f', 'a: { sub_flow: leaf, send: [body], receive: [body, language] }'), others: [leaf] },
      {
        flow: flowOf('f', "a: { for_each: '[1]', as: page, sub_flow: leaf, receive: [page, title], into: results }"),
        others: [leaf],
      },
    ],
    refuses: [
      {
        flow: flowOf('f', 'a: { sub_flow: leaf, receive: [title, titel] }'),
        others: [leaf],
        path: 'steps.a.receive[1]',
        message: `flow leaf neither writes "titel" nor is sent it; did you mean 'title'?`,
      },
      {
        flow: flowOf('f', "a: { for_each: '[1]', as: page, sub_flow: leaf, receive: [body], into: results }"),
        others: [leaf],
        path: 'steps.a.receive[0]',
        message: 'flow leaf neither writes "body" nor is sent it',
      },
      // Declared, but nothing gives it a value.
      {
        flow: flowOf('f', 'a: { sub_flow: leaf, receive: [results] }'),
        others: [leaf],
        path: 'steps.a.receive[0]',
        message: 'flow leaf neither writes "results" nor is sent it',
      },
    ],
  },
  'graph.flow-ring': {
    accepts: [
      { flow: flowOf('f', 'a: { sub_flow: leaf }', 'b: { after: [a], sub_flow: leaf }'), others: [leaf] },
      { flow: flowOf('f', 'a: { sub_flow: g }'), others: [flowOf('g', 'a: { start_flow: f }')] },
    ],
    refuses: [
      {
        flow: flowOf('f', 'a: { sub_flow: g }'),
        others: [flowOf('g', 'a: { sub_flow: f }')],
        path: 'steps.a.sub_flow',
        message: 'a flow cannot wait for itself: f -> g -> f',
      },
      {
        flow: flowOf('f', "a: { for_each: '[1]', as: page, sub_flow: g, into: results }"),
        others: [
          flowOf('g', 'a: { sub_flow: h }'),
          flowOf('h', "a: { for_each: '[1]', as: page, sub_flow: f, into: results }"),
        ],
        path: 'steps.a.sub_flow',
        message: 'a flow cannot wait for itself: f -> g -> h -> f',
      },
      // The version of f that g waits for waits for nobody; the next one would.
      {
        flow: flowOf('f', 'a: { sub_flow: g }'),
        others: [flowOf('f', 'a: { call: m }'), flowOf('g', 'a: { sub_flow: f, version: 1 }')],
        path: 'steps.a.sub_flow',
        message: 'a flow cannot wait for itself: f -> g -> f',
      },
      // A ring that does not go through the flow itself.
      {
        flow: flowOf('f', 'a: { sub_flow: g }'),
        others: [flowOf('g', 'a: { sub_flow: h }'), flowOf('h', 'a: { sub_flow: g }')],
        path: 'steps.a.sub_flow',
        message: 'a flow cannot wait for itself: g -> h -> g',
      },
      // g is known to be without a ring when k comes to it.
      {
        flow: flowOf('f', 'a: { sub_flow: g }', 'b: { sub_flow: k }'),
        others: [
          flowOf('g', 'a: { sub_flow: k, version: 1 }'),
          flowOf('k', 'a: { call: m }'),
          flowOf('k', 'a: { sub_flow: g }'),
        ],
        path: 'steps.b.sub_flow',
        message: 'a flow cannot wait for itself: k -> g -> k',
      },
    ],
  },
  'limits.flow-nesting': {
    accepts: [{ flow: row(16)[0] as Flow, others: row(16) }],
    refuses: [
      {
        flow: row(17)[0] as Flow,
        others: row(17),
        path: 'steps.a.sub_flow',
        message: `more than 16 sub-flows lie inside one another: ${rowNames(17)}`,
      },
      // The row is known from the first step, and too long below the second.
      {
        flow: flowOf('f', 'a: { sub_flow: f1 }', 'b: { sub_flow: over }'),
        others: [...row(16), flowOf('over', 'a: { sub_flow: f0 }')],
        path: 'steps.b.sub_flow',
        message: `more than 16 sub-flows lie inside one another: f -> over -> ${rowNames(16)}`,
      },
    ],
  },
};

function linked({ flow, others }: Case) {
  return linkFlow(flow, catalogue(...others), new Set(others.map(({ name }) => name)));
}

describe.each(Object.entries(cases))('%s', (rule, { accepts, refuses }) => {
  it.each(accepts)('accepts %#', (each) => {
    expect(linked(each).kind).toBe('flow');
  });

  it.each(refuses)('refuses $message', ({ path, message, ...each }) => {
    expect(linked(each)).toEqual({ kind: 'problems', problems: [{ rule, path, message }] });
  });
});

describe('linkFlow', () => {
  it('has cases on both sides of every rule', () => {
    for (const rule of linkRules) {
      expect(cases[rule].accepts.length).toBeGreaterThan(0);
      expect(cases[rule].refuses.length).toBeGreaterThan(0);
    }
  });

  it('fixes the versions of sub-flows, and of nothing else', () => {
    const flow = flowOf(
      'f',
      'a: { sub_flow: leaf }',
      'b: { sub_flow: leaf, version: 1 }',
      "c: { for_each: '[1]', as: page, sub_flow: leaf, into: results }",
      'd: { start_flow: leaf }',
    );
    const result = linked({ flow, others: [leaf, leaf] });
    const versions = result.kind === 'flow' ? result.flow.steps.map((step) => subFlowOf(step)?.version) : [];
    expect(versions).toEqual([2, 1, 2, undefined]);
    expect(flow.steps.map((step) => subFlowOf(step)?.version)).toEqual([0, 1, 0, undefined]);
  });

  it('tells a flow that was never released from one that does not exist', () => {
    const flow = flowOf('f', 'a: { sub_flow: g }');
    const result = linkFlow(flow, () => undefined, ['g']);
    expect(result).toMatchObject({ problems: [{ message: 'no version of flow g is released' }] });
  });

  it('walks each version once, however many ways lead to it', () => {
    // Every flow waits for the next one twice: 2^16 ways.
    const flows = Array.from({ length: 16 }, (_, index) =>
      flowOf(`f${index}`, `a: { sub_flow: f${index + 1} }`, `b: { sub_flow: f${index + 1}, version: 1 }`),
    );
    const lookUp = catalogue(...flows, flowOf('f16', 'a: { call: m }'));
    let asked = 0;
    const counted: FlowLookUp = (name, version) => {
      asked++;
      return lookUp(name, version);
    };
    expect(linkFlow(flows[0] as Flow, counted).kind).toBe('flow');
    expect(asked).toBeLessThan(100);
  });
});

describe('flowsNamed', () => {
  it('gives the other flows, each version once', () => {
    const flow = flowOf(
      'f',
      'a: { sub_flow: g }',
      "b: { for_each: '[1]', as: page, sub_flow: g, into: results }",
      'c: { sub_flow: g, version: 2 }',
      'd: { start_flow: g }',
      'e: { start_flow: f }',
    );
    expect(flowsNamed(flow)).toEqual([
      { name: 'g', version: 0, isSubFlow: true },
      { name: 'g', version: 2, isSubFlow: true },
      { name: 'g', version: 0, isSubFlow: false },
    ]);
  });
});

describe('locateFaults', () => {
  it('finds the places of what linkFlow refuses', () => {
    const flow = flowOf('f', 'a: { sub_flow: leaf, receive: [titel] }');
    const result = linked({ flow, others: [leaf] });
    const faults = result.kind === 'problems' ? result.problems : [];
    const text = textOf('f', 'a: { sub_flow: leaf, receive: [titel] }');
    expect(locateFaults(text, faults)).toMatchObject([{ line: 5, column: 34, rule: 'references.child-fields' }]);
  });
});
