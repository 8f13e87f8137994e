// Numbers, names and values that the documentation repeats from the code.

import { describe, expect, it } from 'vitest';
import { readModules } from '../../../dispatch/modules/configuration.ts';
import { compileFlow } from '../../../flow/compile.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { printDuration } from '../../../flow/definition/duration.ts';
import { flowDefaults, flowLimits } from '../../../flow/definition/limits.ts';
import { functionNames } from '../../../flow/expression/functions.ts';
import { expressionLimits } from '../../../flow/expression/limits.ts';
import { compileExpression } from '../../../flow/expression.ts';
import { decodeText, encodeTyped, fieldTypeNames } from '../../../flow/field-type.ts';
import { FieldType } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { ProcessRequestSchema, ReturnCodeSchema } from '../../../proto/gen/weir/module/v1/module_pb.js';
import { codeIn, readDocument } from './markdown.ts';

const flows = readDocument('docs/flows.md');
const modules = readDocument('docs/modules.md');

function shown(name: string, value: number): string {
  return name.endsWith('Ms') ? printDuration(value) : value.toLocaleString('en');
}

/** Rows end with a value and the name it has in the code. */
function valuesByName(heading: string): Record<string, string> {
  return Object.fromEntries(flows.table(heading).map((cells) => [codeIn(cells.at(-1) ?? ''), cells.at(-2) ?? '']));
}

describe('docs/flows.md', () => {
  it.each([
    ['Limits of flows', flowLimits],
    ['Limits of expressions', expressionLimits],
    ['Defaults', flowDefaults],
  ])('%s are those of the code', (heading, values) => {
    const wanted = Object.entries(values).map(([name, value]) => [name, shown(name, value)]);
    expect(valuesByName(heading)).toEqual(Object.fromEntries(wanted));
  });

  it('the keys of a call have the defaults that the text says', () => {
    const wanted = Object.fromEntries(
      flows.table('call').map(([key = '', value = '']) => [codeIn(key), codeIn(value)]),
    );
    const { module, timeoutMs, retry, maxLosses, send, receive } = firstCall('{ call: some.module }');
    expect({ module, send, receive }).toEqual({ module: 'some.module', send: [], receive: [] });
    expect({
      timeout: printDuration(Number(timeoutMs)),
      retry: `{ tries: ${retry?.tries}, first: ${printDuration(Number(retry?.firstMs))}, max: ${printDuration(Number(retry?.maxMs))} }`,
      max_losses: String(maxLosses),
    }).toEqual({ timeout: wanted['timeout'], retry: wanted['retry'], max_losses: wanted['max_losses'] });
  });

  it('the types of fields are all there', () => {
    expect(flows.table('Fields').map(([type = '']) => codeIn(type))).toEqual([...fieldTypeNames.keys()]);
  });

  it('the functions are all there', () => {
    const cells = flows.table('Functions and operators').map(([cell = '']) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/([A-Za-z_]+)\(/g)].map((match) => match[1] ?? ''));
    const macros = ['has', 'all', 'exists', 'exists_one', 'filter', 'map'];
    expect(named.toSorted()).toEqual([...functionNames, ...macros].toSorted());
  });

  describe('the examples of expressions', () => {
    const declared = new Map([
      ['title', FieldType.STRING],
      ['count', FieldType.INT],
      ['score', FieldType.DOUBLE],
      ['page', FieldType.JSON],
    ]);
    const texts = { title: 'Weir', count: '3', score: '0.5', page: '{"lang":"en","tags":["river","dam"]}' };
    const values = Object.fromEntries(
      Object.entries(texts).map(([name, text]) => {
        const decoded = decodeText(declared.get(name) ?? FieldType.UNSPECIFIED, text);
        return [name, decoded.kind === 'value' ? decoded.value : undefined];
      }),
    );

    it.each(flows.table('Examples').map(([source = '', value = '']) => [codeIn(source), codeIn(value)]))(
      '%s is %s',
      (source, value) => {
        const compiled = compileExpression(source, declared);
        if (compiled.kind === 'invalid') throw new Error(compiled.message);
        const result = compiled.expression.evaluate(values);
        const encoded = result.kind === 'value' ? encodeTyped(FieldType.JSON, result.value) : result;
        expect(encoded.kind === 'value' ? new TextDecoder().decode(encoded.bytes) : encoded.message).toBe(value);
      },
    );
  });
});

describe('docs/modules.md', () => {
  it('has every return code with its number', () => {
    const rows = modules.table('Return codes').map(([code = '', number = '']) => [codeIn(code), Number(number)]);
    const wanted = ReturnCodeSchema.values.map(({ name, number }) => [name.replace('RETURN_CODE_', ''), number]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(wanted));
  });

  it('has every field of a request', () => {
    const cells = modules.table('The contract').map(([cell = '']) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? ''));
    expect(named.toSorted()).toEqual(ProcessRequestSchema.fields.map(({ name }) => name).toSorted());
  });

  it('has the bounds of modules.yaml', () => {
    const [directory, endpoints, concurrency] = modules.table('modules.yaml').map((cells) => cells.slice(2));
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`m${index}`, one]));
    expect(refusals(many)).toEqual([expect.stringContaining('at most 1000 are allowed')]);
    expect(directory).toEqual([expect.stringContaining('required'), expect.stringContaining('up to 1,000 names')]);
    expect(refusals({ m: { endpoints: [] } })).toEqual([expect.stringContaining('allowed are 1 to 256')]);
    expect(endpoints).toEqual(['none', expect.stringContaining('1 to 256,')]);
    expect(refusals({ m: { ...one, concurrency: 0 } })).toEqual([expect.stringContaining('from 1 to 10000')]);
    expect(concurrency).toEqual(['64', expect.stringContaining('1 to 10,000,')]);
    expect(readModules(JSON.stringify({ modules: { m: one } }))).toMatchObject({ value: [{ concurrency: 64 }] });
    expect(refusals({ m: { ...one, weight: 1 } })).toEqual([
      'is unknown; allowed are endpoints, dns, register, concurrency',
    ]);
  });
});

function firstCall(step: string) {
  const parsed = parseFlow(`{ flow: one, business: documentation, steps: { work: ${step} } }`);
  if (parsed.kind === 'problems') throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  compileFlow(parsed.flow, 1);
  const kind = parsed.flow.steps[0]?.kind;
  if (kind?.case !== 'call') throw new Error('the step is no call');
  return kind.value;
}

const one = { endpoints: ['127.0.0.1:1'] };

function refusals(directory: unknown): string[] {
  const reading = readModules(JSON.stringify({ modules: directory }));
  return reading.ok ? [] : reading.problems.map(({ message }) => message);
}
