// `text.language`: which language a text is written in.
import { eld } from 'eld/small';

/** What is said of a text too short or too mixed to tell: ISO 639's code for "undetermined". */
export const undetermined = 'und';

// Characters. The verdict of a longer text is the same, and its first lines are the sender's own, not what is quoted.
const maxText = 2_000;

/** The ISO 639-1 code of the language of `text`, or `und`. Depends on the text alone. */
export function detectLanguage(text: string): string {
  const found = eld.detect(text.slice(0, maxText));
  return found.isReliable() ? found.language : undetermined;
}
