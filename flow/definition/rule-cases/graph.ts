// Rules of the graph.

import { withFields, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const graphCases: CasesOf<'graph'> = {
  'graph.ring': {
    accepts: [
      withSteps('a: { call: m }', 'b: { after: [a], call: m }', 'c: { after: [a, b], call: m }'),
      withSteps('a: { start_flow: f }', 'b: { sub_flow: g }'),
    ],
    refuses: [
      {
        text: withSteps('a: { after: [a], call: m }'),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> a',
        at: '4:3',
      },
      {
        text: withSteps(
          'a: { after: [c], call: m }',
          'b: { after: [a], call: m }',
          'c: { after: [b], call: m }',
          'd: { after: [c], call: m }',
        ),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> c -> a',
        at: '4:3',
      },
      {
        text: withSteps("a: { switch: [{ when: 'true', then: [a] }] }"),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> a',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m }', "b: { after: [a], switch: [{ when: 'true', then: [a] }] }"),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> a',
        at: '4:3',
      },
      {
        text: withSteps('a: { call: m }', "b: { after: [a], switch: [{ when: 'false', then: [] }], otherwise: [a] }"),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> a',
        at: '4:3',
      },
      {
        text: withSteps('a: { sub_flow: f }'),
        path: 'steps.a.sub_flow',
        message: 'a flow cannot wait for itself: f -> f',
        at: '4:8',
      },
      {
        text: withFields('all: json', "a: { for_each: '[1]', as: page, sub_flow: f, into: all }"),
        path: 'steps.a.sub_flow',
        message: 'a flow cannot wait for itself: f -> f',
        at: '5:35',
      },
      {
        text: withSteps('a: { after: [b], call: m }', 'b: { after: [a], join: {} }'),
        path: 'steps.a',
        message: 'a step cannot wait for itself: a -> b -> a',
        at: '4:3',
      },
    ],
  },
  'graph.join-steps': {
    accepts: [
      withSteps('a: { call: m }', 'b: { after: [a], join: {} }'),
      withSteps('a: { call: m }', 'b: { call: m }', 'c: { after: [a, b], join: { need: any } }'),
      // A step may read what only a branch writes that the join may do without.
      withSteps(
        'a: { call: m, receive: [x] }',
        'b: { call: m }',
        'c: { after: [a, b], join: { need: any, losers: cancel } }',
        'd: { after: [c], call: m, send: [x] }',
      ),
    ],
    refuses: [
      {
        text: withSteps('a: { join: {} }'),
        path: 'steps.a.after',
        message: 'a join that needs all waits for at least 1, found 0',
        at: '4:3',
      },
      {
        text: withSteps('a: { after: [], join: { need: all } }'),
        path: 'steps.a.after',
        message: 'a join that needs all waits for at least 1, found 0',
        at: '4:8',
      },
      {
        text: withSteps('a: { after: [], join: { need: any } }'),
        path: 'steps.a.after',
        message: 'a join that needs 1 waits for at least 2, found 0',
        at: '4:8',
      },
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: { need: any } }'),
        path: 'steps.b.after',
        message: 'a join that needs 1 waits for at least 2, found 1',
        at: '5:8',
      },
      {
        text: withSteps('a: { call: m }', 'b: { after: [a], join: { need: 2 } }'),
        path: 'steps.b.after',
        message: 'a join that needs 2 waits for at least 2, found 1',
        at: '5:8',
      },
    ],
  },
  'graph.join-need': {
    accepts: [
      withSteps(
        'a: { call: m }',
        'b: { call: m }',
        'c: { after: [a, b], join: { need: 1 } }',
        'd: { after: [a, b], join: { need: 2 } }',
      ),
    ],
    refuses: [
      {
        text: withSteps('a: { call: m }', 'b: { call: m }', 'c: { after: [a, b], join: { need: 3 } }'),
        path: 'steps.c.join.need',
        message: 'found 3; the join waits for 2 steps',
        at: '6:31',
      },
    ],
  },
  'graph.join-losers': {
    accepts: [
      withSteps(
        'a: { call: m }',
        'b: { call: m }',
        'c: { after: [a, b], join: { need: any, losers: cancel } }',
        'd: { after: [a, b], join: { losers: wait } }',
      ),
    ],
    refuses: [
      {
        text: withSteps('a: { call: m }', 'b: { call: m }', 'c: { after: [a, b], join: { losers: cancel } }'),
        path: 'steps.c.join.losers',
        message: 'a join that needs all its steps has none to cancel',
        at: '6:31',
      },
      {
        text: withSteps('a: { call: m }', 'b: { call: m }', 'c: { after: [a, b], join: { need: 2, losers: cancel } }'),
        path: 'steps.c.join.losers',
        message: 'a join that needs all its steps has none to cancel',
        at: '6:40',
      },
    ],
  },
};
