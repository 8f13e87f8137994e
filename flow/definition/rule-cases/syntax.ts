// Rules of the text itself.

import { flowLimits } from '../limits.ts';
import { letters, minimal, withLine, withSteps } from './flow-texts.ts';
import type { CasesOf } from './rule-case.ts';

export const syntaxCases: CasesOf<'syntax'> = {
  'syntax.size': {
    accepts: [`${minimal}\n#${letters(flowLimits.maxFlowBytes - minimal.length - 2)}`],
    refuses: [
      {
        text: `${minimal}\n#${letters(flowLimits.maxFlowBytes - minimal.length - 1)}`,
        path: '',
        message: 'the text has more than 480000 bytes',
        at: '1:1',
      },
      { text: '字'.repeat(160_001), path: '', message: 'the text has more than 480000 bytes', at: '1:1' },
      { text: `[${', '.repeat(100_000)}]`, path: '', message: 'the text has more than 200000 tokens', at: '1:200001' },
    ],
  },
  'syntax.yaml': {
    accepts: [
      minimal,
      `\uFEFF${minimal}`,
      minimal.replaceAll('\n', '\r\n'),
      '{"flow":"f","business":"b","steps":{"a":{"call":"m"}}}',
    ],
    refuses: [
      {
        text: 'flow: [f',
        path: '',
        message: 'not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
        at: '1:9',
      },
      { text: 'flow: f\n\tbusiness: b', path: '', message: 'not YAML: Tabs are not allowed as indentation', at: '2:1' },
      { text: '{"flow":"f', path: '', message: 'not YAML: Missing closing "quote', at: '1:11' },
    ],
  },
  'syntax.nesting': {
    accepts: [withLine(`fields: { j: { type: json, default: ${'['.repeat(25)}${']'.repeat(25)} } }`)],
    refuses: [
      {
        text: '['.repeat(10_000) + ']'.repeat(10_000),
        path: '',
        message: 'the text has more than 32 levels',
        at: '1:97',
      },
      { text: '- '.repeat(10_000), path: '', message: 'the text has more than 32 levels', at: '1:192' },
      { text: '{"a":'.repeat(10_000), path: '', message: 'the text has more than 32 levels', at: '1:477' },
    ],
  },
  'syntax.documents': {
    accepts: [`---\n${minimal}\n...\n`],
    refuses: [
      {
        text: `${minimal}\n---\nflow: g`,
        path: '',
        message: 'a second document begins here; a text holds one flow',
        at: '6:1',
      },
    ],
  },
  'syntax.alias': {
    accepts: [withLine("description: '*a &b'")],
    refuses: [
      {
        text: withLine('description: &d text'),
        path: 'description',
        message: 'found the anchor &d; anchors are not used',
        at: '4:17',
      },
      {
        text: withLine('description: *d'),
        path: 'description',
        message: 'found the alias *d; write the value out',
        at: '4:14',
      },
    ],
  },
  'syntax.tag': {
    accepts: [withLine("description: '!!binary x'")],
    refuses: [
      {
        text: withLine('description: !!binary aGk='),
        path: 'description',
        message: 'found the tag "tag:yaml.org,2002:binary"; tags are not used',
        at: '4:23',
      },
      {
        text: withLine('description: !!js/function x'),
        path: 'description',
        message: 'found the tag "tag:yaml.org,2002:js/function"; tags are not used',
        at: '4:28',
      },
    ],
  },
  'syntax.key': {
    accepts: [withSteps('"a": { call: m }')],
    refuses: [
      {
        text: withSteps('1: { call: m }'),
        path: 'steps["1"]',
        message: 'a key must be text, found 1; put it in quotes',
        at: '4:3',
      },
      {
        text: withSteps(': { call: m }'),
        path: 'steps[""]',
        message: 'a key must be text, found nothing; put it in quotes',
        at: '4:3',
      },
      {
        text: withSteps('? [a]', ': { call: m }'),
        path: 'steps',
        message: 'a key must be text, found a list or map; put it in quotes',
        at: '4:5',
      },
    ],
  },
  'syntax.duplicate-key': {
    accepts: [withSteps('a: { call: m }', 'b: { call: m }')],
    refuses: [
      {
        text: withSteps('a: { call: m }', 'a: { call: n }'),
        path: 'steps.a',
        message: 'the key "a" stands here again; first in line 4',
        at: '5:3',
      },
      {
        text: '{"flow":"f","flow":"g","business":"b","steps":{"a":{"call":"m"}}}',
        path: 'flow',
        message: 'the key "flow" stands here again; first in line 1',
        at: '1:13',
      },
    ],
  },
};
