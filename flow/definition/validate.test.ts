// What only a flow without a text can have wrong with it: a text says it otherwise, or cannot say it.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { FieldType, FlowSchema, NoMatch } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowLimits } from './limits.ts';
import { validateFlow } from './validate.ts';

type FlowShape = MessageInitShape<typeof FlowSchema>;

const call = { module: 'm', timeoutMs: 1_000n, retry: { tries: 1, firstMs: 1n, maxMs: 1n }, maxLosses: 1 };
const step = { id: 'a', kind: { case: 'call', value: call } } as const;

function faultsOf(changes: FlowShape) {
  return validateFlow(create(FlowSchema, { name: 'f', business: 'b', deadlineMs: 60_000n, steps: [step], ...changes }));
}

describe('validateFlow', () => {
  it('accepts a flow', () => {
    expect(faultsOf({})).toEqual([]);
  });

  it.each<[string, FlowShape, object]>([
    [
      'two steps of one name',
      { steps: [step, step] },
      { rule: 'names.unique', path: 'steps.a', message: 'two steps are called "a"' },
    ],
    [
      'two fields of one name',
      {
        fields: [
          { name: 'x', type: FieldType.INT },
          { name: 'x', type: FieldType.INT },
        ],
      },
      { rule: 'names.unique', path: 'fields.x', message: 'two fields are called "x"' },
    ],
    [
      'more than fits a message',
      { description: 'x'.repeat(flowLimits.maxFlowBytes) },
      {
        rule: 'limits.flow-size',
        path: '',
        message: 'found 480037 bytes in the stored form; at most 480000 are allowed',
      },
    ],
    [
      'a step of a kind that this engine does not know',
      { steps: [{ id: 'a' }] },
      {
        rule: 'shape.kind',
        path: 'steps.a',
        message:
          'a step has exactly one of the keys call, switch, inline, join, wait, callback, sub_flow, start_flow, for_each, found none',
      },
    ],
    [
      'a call without a retry policy',
      { steps: [{ id: 'a', kind: { case: 'call', value: { module: 'm', timeoutMs: 1n, maxLosses: 1 } } }] },
      { rule: 'shape.required', path: 'steps.a.retry', message: 'a call needs a retry policy' },
    ],
    [
      'a field without a type',
      { fields: [{ name: 'x' }] },
      {
        rule: 'shape.word',
        path: 'fields.x',
        message: 'a field needs a type; allowed are bytes, string, int, double, bool, json',
      },
    ],
    [
      'a switch that does not say what happens when nothing matches',
      { steps: [{ id: 'a', kind: { case: 'switch', value: { cases: [{ when: 'true' }] } } }] },
      { rule: 'references.no-match', path: 'steps.a', message: 'a switch has either otherwise or no_match' },
    ],
    [
      'a switch that says it twice',
      {
        steps: [
          step,
          {
            id: 'b',
            kind: { case: 'switch', value: { cases: [{ when: 'true' }], otherwise: ['a'], noMatch: NoMatch.PASS } },
          },
        ],
      },
      { rule: 'references.no-match', path: 'steps.b', message: 'a switch has either otherwise or no_match' },
    ],
    [
      'an exit call without a call',
      { onExit: [{ when: [1] }] },
      { rule: 'shape.required', path: 'on_exit[0]', message: "an exit call needs the key 'call'" },
    ],
    [
      'a join that does not say what becomes of the losers',
      { steps: [step, { id: 'b', after: ['a'], kind: { case: 'join', value: {} } }] },
      {
        rule: 'shape.word',
        path: 'steps.b.join.losers',
        message: 'a join says what becomes of the losers: wait, cancel',
      },
    ],
    [
      'a wait for nothing',
      { steps: [{ id: 'a', kind: { case: 'wait', value: {} } }] },
      {
        rule: 'shape.kind',
        path: 'steps.a.wait',
        message: 'a wait has exactly one of the keys for, until, signal, found none',
      },
    ],
    [
      'a wait for a signal that does not say what a timeout does',
      { steps: [{ id: 'a', kind: { case: 'wait', value: { what: { case: 'signal', value: { name: 's' } } } } }] },
      {
        rule: 'shape.word',
        path: 'steps.a.wait.on_timeout',
        message: 'a wait for a signal says what a timeout does: fail, pass',
      },
    ],
    [
      'a callback without a call',
      { steps: [{ id: 'a', kind: { case: 'callback', value: { answerWithinMs: 1n } } }] },
      { rule: 'shape.required', path: 'steps.a', message: 'a callback needs a call' },
    ],
    [
      'a list without a branch',
      { steps: [{ id: 'a', kind: { case: 'forEach', value: { over: '[1]', as: 'x', into: 'y' } } }] },
      {
        rule: 'shape.kind',
        path: 'steps.a',
        message: 'a for_each step has exactly one of the keys call, sub_flow, found none',
      },
    ],
    [
      'an address where a module is needed',
      { steps: [{ id: 'a', kind: { case: 'call', value: { ...call, module: 'https://example.org' } } }] },
      {
        rule: 'names.module',
        path: 'steps.a.call',
        message:
          'a module cannot be called "https://example.org"; allowed is [a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*, up to 128 characters',
      },
    ],
  ])('refuses %s', (_what, changes, fault) => {
    expect(faultsOf(changes)).toContainEqual(fault);
  });
});
