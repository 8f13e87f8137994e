import { describe, expect, it } from 'vitest';
import { parseFlow } from '../definition/definition.ts';
import { printFlow } from '../definition/print-flow.ts';
import { classOfModule, moduleOfClass } from './class-name.ts';
import { readPipeline } from './read-pipeline.ts';
import { type PipelineFile, writePipeline } from './write-pipeline.ts';

const advertisement: PipelineFile = {
  pipeline: {
    name: '广告视频生成',
    tasks: [
      { id: 'decode', className: 'VideoDecodeTask' },
      { id: 'audio', className: 'AudioProcessTask' },
      { id: 'render', className: 'RenderTask' },
      { id: 'encode', className: 'EncodeTask' },
    ],
    dependencies: [
      { from: 'decode', to: 'render' },
      { from: 'audio', to: 'render' },
      { from: 'render', to: 'encode' },
    ],
  },
};

function flowOf(text: string) {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.flow;
}

function imported(file: unknown, name?: string): string {
  const reading = readPipeline(JSON.stringify(file), { business: 'video', ...(name === undefined ? {} : { name }) });
  if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems));
  return printFlow(reading.flow);
}

function exported(text: string): unknown {
  const writing = writePipeline(flowOf(text));
  return writing.kind === 'pipeline' ? writing.file : writing.faults.map(({ path, message }) => `${path}: ${message}`);
}

describe('a pipeline', () => {
  it('becomes a flow', () => {
    expect(imported(advertisement)).toBe(`flow: pipeline
business: video
description: 'pipeline "广告视频生成"'
steps:
  decode: { call: video-decode }
  audio: { call: audio-process }
  render: { after: [decode, audio], call: render }
  encode: { after: [render], call: encode }
`);
  });

  it('comes back as it was', () => {
    expect(exported(imported(advertisement))).toEqual(advertisement);
    expect(exported(imported(advertisement, 'advertisement'))).toEqual(advertisement);
  });

  it('keeps names in any script and with any signs', () => {
    const file = {
      pipeline: {
        name: 'Ünïted "pipe\n: #1',
        tasks: [
          { id: '解码', className: '视频Task' },
          { id: 'task_1', className: 'render_v2' },
          { id: 'input', className: 'Task' },
          { id: 'exit', className: 'HTTPFetch2Task' },
          { id: 'A-b.c', className: 'class-1' },
          { id: 'task_2 is task "x"', className: 'render_v2' },
        ],
        dependencies: [{ from: '解码', to: 'A-b.c' }],
      },
    };
    const text = imported(file);
    expect(text).toContain('task_1: { call: class-2 }');
    expect(exported(text)).toEqual(file);
  });

  it('needs no name of its own where a flow can have it', () => {
    const file = { pipeline: { name: 'video-ads', tasks: [{ id: 'a', className: 'ATask' }], dependencies: [] } };
    expect(imported(file)).toBe('flow: video-ads\nbusiness: video\nsteps:\n  a: { call: a }\n');
    expect(exported(imported(file))).toEqual(file);
  });
});

describe('class names', () => {
  it.each([
    ['VideoDecodeTask', 'video-decode'],
    ['HTTPFetch2Task', 'h-t-t-p-fetch2'],
    ['TaskTask', 'task'],
  ])('%s is %s, both ways', (className, module) => {
    expect(moduleOfClass(className)).toBe(module);
    expect(classOfModule(module)).toBe(className);
  });

  it.each(['Task', 'Render', 'renderTask', 'Video_DecodeTask', '视频Task', ''])(
    '%j has no module of its own',
    (name) => {
      expect(moduleOfClass(name)).toBeUndefined();
    },
  );

  it.each(['mail.parse', 'class-1', 'near_dup', 'a--b'])('%j is no class', (module) => {
    expect(classOfModule(module)).toBeUndefined();
  });
});

describe('a pipeline is refused', () => {
  const task = '{ "id": "a", "className": "ATask" }, { "id": "b", "className": "BTask" }';
  const withTasks = (rest: string) => `{ "pipeline": { "name": "p", "tasks": [${task}]${rest} } }`;

  it.each<[string, string[]]>([
    ['', ['1:1 : the text is empty; a pipeline is needed']],
    ['[]', ['1:1 : the file of a pipeline is a map, found a list']],
    ['{}', ["1:1 : the file of a pipeline needs the key 'pipeline'"]],
    ['{ "pipeline": { "name": "p" } }', ["1:3 pipeline: a pipeline needs the key 'tasks'"]],
    [
      withTasks(', "dependencys": []'),
      [`1:115 pipeline.dependencys: a pipeline has no key "dependencys"; did you mean 'dependencies'?`],
    ],
    [
      '{ "pipeline": { "name": "p", "tasks": [{ "id": "a", "className": "ATask", "retries": 3 }] } }',
      ['1:75 pipeline.tasks[0].retries: a task has no key "retries"; allowed are id, className'],
    ],
    [
      '{ "pipeline": { "name": "p", "tasks": [{ "id": "", "className": 5 }] } }',
      [
        '1:42 pipeline.tasks[0].id: the id of a task is empty',
        '1:52 pipeline.tasks[0].className: the class of a task is a text, found the number 5; put it in quotes',
      ],
    ],
    [
      `{ "pipeline": { "name": "p", "tasks": [${task}, { "id": "a", "className": "CTask" }] } }`,
      ['1:116 pipeline.tasks[2].id: two tasks are called "a"; first in pipeline.tasks[0]'],
    ],
    [
      withTasks(', "dependencies": [{ "from": "a", "to": "c" }]'),
      [`1:147 pipeline.dependencies[0].to: no task is called "c"`],
    ],
    [
      withTasks(', "dependencies": [{ "from": "a", "to": "b" }, { "from": "a", "to": "b" }]'),
      ['1:160 pipeline.dependencies[1]: "b" depends on "a" already'],
    ],
    [
      withTasks(', "dependencies": [{ "from": "a", "to": "b" }, { "from": "b", "to": "a" }]'),
      ['1:115 pipeline.dependencies: a task cannot wait for itself: a -> b -> a'],
    ],
    ['{ "pipeline": { "name": "p", "tasks": [] } }', ['1:30 pipeline.tasks: found 0 steps; 1 to 1000 are allowed']],
  ])('%s', (text, messages) => {
    const reading = readPipeline(text, { business: 'video' });
    const problems = reading.kind === 'problems' ? reading.problems : [];
    expect(problems.map((each) => `${each.line}:${each.column} ${each.path}: ${each.message}`)).toEqual(messages);
  });
});

describe('a flow is no pipeline', () => {
  it('and everything that is too much is named', () => {
    const text = `
flow: f
business: b
fields: { score: { type: double, default: 1 } }
deadline: 1h
steps:
  parse: { call: mail.parse, receive: [score], retry: { tries: 5 } }
  route: { after: [parse], switch: [{ when: "score > 0.5", then: [hold] }], no_match: pass }
  hold: { when: "score > 0.6", call: hold, timeout: 1m }
on_exit: [{ when: [FAILED], call: audit }]
`;
    expect(exported(text)).toEqual([
      'fields: a pipeline has no fields',
      'deadline: a pipeline has no deadline',
      'on_exit: a pipeline has no on_exit',
      'steps.parse.receive: step parse: a task has no receive',
      'steps.parse.retry: step parse: a task has no retry',
      'steps.route.switch: step route: a task has no switch',
      'steps.route.no_match: step route: a task has no no_match',
      'steps.hold.when: step hold: a task has no when',
      'steps.hold.timeout: step hold: a task has no timeout',
      "steps.parse.call: step parse: no class is the module mail.parse; modules of classes are words joined by '-'",
    ]);
  });

  it('when two of its steps are one task', () => {
    const text = `{ flow: f, business: b, description: 'task_1 is task "a"', steps: { a: { call: m }, task_1: { call: m } } }`;
    expect(exported(text)).toEqual(['steps.task_1: steps a and task_1 are both task "a"']);
  });
});
