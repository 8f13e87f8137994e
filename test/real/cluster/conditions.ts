// Waiting for what must come, on a machine that does other things too.

import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two looks. */
const lookMs = 50;

/** Answers the first answer of `look` that isn't undefined or false. Throws when there is none within `withinMs`. */
export async function becomes<Answer>(
  what: string,
  look: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  withinMs = 60_000,
): Promise<Answer> {
  const giveUpMs = performance.now() + withinMs;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > giveUpMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await pause(lookMs);
  }
}

/** The answer of `work`, and how long it took in ms. Throws when that is more than `withinMs`. */
export async function timed<Answer>(
  what: string,
  work: Promise<Answer>,
  withinMs: number,
): Promise<{ readonly answer: Answer; readonly tookMs: number }> {
  const startMs = performance.now();
  const late = new AbortController();
  try {
    const answer = await Promise.race([
      work,
      pause(withinMs, undefined, { signal: late.signal }).then(() => {
        throw new Error(`not within ${withinMs} ms: ${what}`);
      }),
    ]);
    return { answer, tookMs: Math.round(performance.now() - startMs) };
  } finally {
    late.abort();
  }
}
