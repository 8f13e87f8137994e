// Checks of flag values. Commander puts the flag before the message: `option '--limit <n>' argument 'x' is invalid. …`

import { InvalidArgumentError, Option } from 'commander';

/** Where the engine listens, and where commands look for it. */
export const defaultAddress = '127.0.0.1:27100';

/** A parser of whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]{1,15}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Allowed is a whole number from ${min} to ${max}.`);
  };
}

/** A parser of words that are separated by commas. */
export function list(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.every((word) => word !== '')) return words;
  throw new InvalidArgumentError('Allowed are names separated by commas, as in label,verdict.');
}

/** A parser of one of a few words, in either case. */
export function oneOf(words: readonly string[]): (text: string) => string[] {
  return (text) =>
    list(text).map((word) => {
      const found = words.find((each) => each === word.toUpperCase());
      if (found !== undefined) return found;
      throw new InvalidArgumentError(`Allowed are ${words.join(', ')}.`);
    });
}

/** `host:port`; port 0 only where the engine listens. */
export function address(minPort: 0 | 1): (text: string) => string {
  return (text) => {
    const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})$/.exec(text);
    const port = Number(match?.[2]);
    if (match && port >= minPort && port <= 65_535) return text;
    throw new InvalidArgumentError(`Allowed is HOST:PORT, as in ${defaultAddress}.`);
  };
}

/** Where the engine is: what every command that asks it has. */
export function addressOption(): Option {
  return new Option('--address <host:port>', 'where the engine is')
    .env('WEIR_ADDRESS')
    .default(defaultAddress)
    .argParser(address(1));
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON for programs: one object, or one a line for lists');
}

/** Who changes something: see `authorOf`. */
export function authorOption(): Option {
  return new Option('--author <name>', 'who you are, for those who look later; your account by default').env(
    'WEIR_AUTHOR',
  );
}

export function commentOption(): Option {
  return new Option('--comment <text>', 'why, for those who look later').default('');
}

/** A share of the items, as in `10%` or `0.5%`; in basis points. */
export function share(text: string): number {
  const match = /^([0-9]{1,3}(?:\.[0-9]{1,2})?)%$/.exec(text);
  const basisPoints = Math.round(Number(match?.[1]) * 100);
  if (basisPoints >= 1 && basisPoints <= 10_000) return basisPoints;
  throw new InvalidArgumentError('Allowed is 0.01% to 100%, as in 10%.');
}
