// What the outcome of a call teaches about where regions are.

import type { Outcome } from './connection.ts';
import { describe, movedTo, type Reaction, type ServerException } from './exception-classes.ts';
import type { Locator } from './locator.ts';
import type { Try } from './patience.ts';
import type { Region } from './port.ts';

/** Notes that a region is, or may be, no longer where it was thought to be. */
export function learn(locator: Locator, region: Region, exception: ServerException, reaction: Reaction): void {
  if (reaction !== 'elsewhere' && reaction !== 'unclear') return;
  const address = movedTo(exception);
  if (address !== undefined && address !== region.address) locator.moved(region, address);
  else locator.forget(region);
}

/** What befalls a call to several regions befalls all regions of the server. */
export function learnOfServer(locator: Locator, address: string, outcome: Outcome<unknown>): void {
  if (outcome.kind === 'answered' || (outcome.kind === 'notSent' && outcome.crowded === true)) return;
  if (outcome.kind !== 'exception' || outcome.reaction === 'elsewhere') locator.forgetServer(address);
}

/** What came of a call that is safe to repeat, and what it teaches. */
export function tryOf<T>(locator: Locator, region: Region, outcome: Outcome<T>): Try<T> {
  switch (outcome.kind) {
    case 'answered':
      return { kind: 'done', value: outcome.value };
    case 'exception':
      learn(locator, region, outcome.exception, outcome.reaction);
      return tryOfException(outcome.exception, outcome.reaction);
    case 'notSent':
    case 'lost':
      locator.forgetServer(region.address);
      return { kind: 'again', cause: outcome.cause };
  }
}

export function tryOfException(exception: ServerException, reaction: Reaction): Try<never> {
  const cause = describe(exception);
  return reaction === 'refused' ? { kind: 'refused', cause } : { kind: 'again', cause, atOnce: reaction === 'atOnce' };
}
