// The functions that expressions may use, and those that instrument.ts puts in. A fixed table: no clock, no chance, nothing
// that depends on a machine (time zones), nothing whose result is much larger than what it is given.

import { CelScalar, type CelValue, celEnv, celFunc, celList, isCelList, isCelMap } from '@bufbuild/cel';
import { FieldType } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { decodeText } from '../field-type.ts';
import { expressionLimits } from './limits.ts';
import { spend, weightOf } from './meter.ts';

/** What authors may call by name. */
export const functionNames: ReadonlySet<string> = new Set([
  'bool',
  'contains',
  'double',
  'endsWith',
  'int',
  'matches',
  'size',
  'startsWith',
  'string',
]);

/** What the parser makes of operators and comprehensions. */
export const operatorNames: ReadonlySet<string> = new Set([
  '_+_',
  '_-_',
  '_*_',
  '_/_',
  '_%_',
  '-_',
  '!_',
  '_==_',
  '_!=_',
  '_<_',
  '_<=_',
  '_>_',
  '_>=_',
  '@in',
  '_[_]',
  '_?_:_',
  '_&&_',
  '_||_',
  '@not_strictly_false',
]);

/** Functions that no author can write, because of their names. */
export const meterFunctions = {
  /** `@read(value)`: the value, after its weight is spent. */
  read: '@read',
  /** `@computed(value)`: as `@read`, for what `+` made: no larger than allowed, lists flat. */
  computed: '@computed',
  /** `@scan(text)`: as `@read`, at the price of a regular expression. */
  scan: '@scan',
  /** `@range(list)`: what a comprehension walks over, after the price of copying it is spent. */
  range: '@range',
  /** `@step(go, nodes)`: go, after a round of a comprehension with that many nodes is spent. */
  step: '@step',
  /** `@append(list, element)`: a list with one more element. */
  append: '@append',
} as const;

const { BOOL, DOUBLE, DYN, INT, STRING } = CelScalar;

/** Looking for a pattern costs up to this many times as much as reading the text. */
const scanFactor = 4;
/** Compiling a pattern, which happens anew at each evaluation. */
const patternWork = 1_000;

export const environment = celEnv({
  funcs: [
    celFunc(meterFunctions.read, [DYN], DYN, (value) => {
      spend(weightOf(value));
      return value;
    }),
    celFunc(meterFunctions.computed, [DYN], DYN, computed),
    celFunc(meterFunctions.scan, [DYN], DYN, (value) => {
      spend(patternWork + scanFactor * weightOf(value));
      return value;
    }),
    celFunc(meterFunctions.range, [DYN], DYN, (value) => {
      if (isCelList(value) || isCelMap(value)) spend(value.size >> 3);
      return value;
    }),
    celFunc(meterFunctions.step, [BOOL, INT], BOOL, (go, nodes) => {
      spend(Number(nodes));
      return go;
    }),
    celFunc(meterFunctions.append, [DYN, DYN], DYN, append),
    // The library's own read `0x10` and an empty text as numbers.
    celFunc('int', [STRING], INT, (text) => convert(FieldType.INT, text) as bigint),
    celFunc('double', [STRING], DOUBLE, (text) => convert(FieldType.DOUBLE, text) as number),
  ],
});

function convert(type: FieldType, text: string): CelValue {
  const decoded = decodeText(type, text);
  if (decoded.kind === 'error') throw new Error(`the text ${decoded.message}`);
  return decoded.value;
}

function computed(value: CelValue): CelValue {
  if (typeof value === 'string' && value.length > expressionLimits.maxTextCharacters) {
    throw new Error(`a text of more than ${expressionLimits.maxTextCharacters} characters`);
  }
  if (!isCelList(value)) {
    spend(weightOf(value));
    return value;
  }
  checkListSize(value.size);
  // The library's concatenations are trees, and walking them recurses.
  const flat = celList([...value]);
  spend(weightOf(flat));
  return flat;
}

function checkListSize(elements: number): void {
  if (elements > expressionLimits.maxListElements) {
    throw new Error(`a list of more than ${expressionLimits.maxListElements} elements`);
  }
}

/** Elements of lists that `append` made. */
const growing = new WeakMap<object, CelValue[]>();

/**
 * Adds in place: the accumulator of a comprehension has no name that an author could write, so nobody holds the shorter
 * list. The library's own way, a concatenation for each element, takes quadratic time and overflows the stack.
 */
function append(list: CelValue, element: CelValue): CelValue {
  const elements = growing.get(list as object);
  if (elements) {
    checkListSize(elements.length + 1);
    elements.push(element);
    return list;
  }
  const first = [element];
  const started = celList(first);
  growing.set(started, first);
  return started;
}
