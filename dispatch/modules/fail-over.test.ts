import { describe, expect, it } from 'vitest';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { answerOf } from './classify.ts';
import { decided, goesOn } from './fail-over.ts';

const { OVERLOADED, UNREACHABLE, NO_AUTH, SUCCEEDED, LOST } = Ending;
const tries = (...endings: Ending[]) => endings.map((ending) => ({ answer: answerOf(ending, '') }));

describe('goesOn', () => {
  it.each([
    [true, [OVERLOADED]],
    [true, [OVERLOADED, OVERLOADED]],
    [true, [UNREACHABLE]],
    [true, [NO_AUTH]],
    [true, [NO_AUTH, OVERLOADED]],
    [false, [NO_AUTH, NO_AUTH]],
    [false, [NO_AUTH, UNREACHABLE, NO_AUTH]],
    [false, [OVERLOADED, SUCCEEDED]],
    [false, [UNREACHABLE, LOST]],
    [false, []],
  ])('%s after %j', (expected, endings) => {
    expect(goesOn(tries(...endings))).toBe(expected);
  });

  it('only after what declined or was never reached', () => {
    const others = Object.values(Ending).filter(
      (ending) => typeof ending === 'number' && ![OVERLOADED, UNREACHABLE, NO_AUTH].includes(ending),
    );
    for (const ending of others) expect(goesOn(tries(ending as Ending))).toBe(false);
  });
});

describe('decided', () => {
  it.each([
    [
      [UNREACHABLE, UNREACHABLE],
      [UNREACHABLE, UNREACHABLE],
    ],
    [
      [OVERLOADED, UNREACHABLE],
      [UNREACHABLE, OVERLOADED],
    ],
    [
      [NO_AUTH, UNREACHABLE],
      [UNREACHABLE, NO_AUTH],
    ],
    [
      [NO_AUTH, OVERLOADED, UNREACHABLE],
      [NO_AUTH, UNREACHABLE, OVERLOADED],
    ],
    [
      [OVERLOADED, UNREACHABLE, SUCCEEDED],
      [OVERLOADED, UNREACHABLE, SUCCEEDED],
    ],
    [
      [NO_AUTH, OVERLOADED, NO_AUTH],
      [NO_AUTH, OVERLOADED, NO_AUTH],
    ],
    [[], []],
  ])('%j ends as %j', (endings, expected) => {
    expect(decided(tries(...endings)).map(({ answer }) => answer.ending)).toEqual(expected);
  });
});
