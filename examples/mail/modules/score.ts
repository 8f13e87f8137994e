// `mail.score`: how likely a mail is spam, by naive Bayes over its words. What it learned is fixed when it starts, so that the
// same mail gets the same score from every endpoint and at every retry.
import createClassifier from 'wink-naive-bayes-text-classifier';
import type { Label } from '../corpus.ts';

export interface MailText {
  readonly subject: string;
  readonly body: string;
}

export interface Scorer {
  /** 0 (surely ham) to 1 (surely spam), with four decimals; 0.5 for a mail without a known word. */
  score(mail: MailText): number;
}

// Characters. Words count once per mail, so the tail of a long one adds little but time.
const maxBody = 10_000;
// Unseen words count as seen this often (Lidstone's smoothing). Below 1, since most words of a mail are rare ones.
const smoothingFactor = 0.1;

/** Learns from `examples`, which must hold both labels. Takes about a millisecond for each. */
export function trainScorer(examples: Iterable<MailText & { label: Label }>): Scorer {
  const classifier = createClassifier();
  classifier.defineConfig({ considerOnlyPresence: true, smoothingFactor });
  classifier.definePrepTasks([tokens]);
  for (const example of examples) classifier.learn(joined(example), example.label);
  classifier.consolidate();
  return {
    score: (mail) => {
      const odds = classifier.computeOdds(joined(mail)).find(([label]) => label === 'spam')?.[1] ?? 0;
      return Math.round(probability(odds) * 10_000) / 10_000;
    },
  };
}

function joined(mail: MailText): string {
  return `${mail.subject}\n${mail.body.slice(0, maxBody)}`;
}

/** The distinct words of a mail; those of the subject (the first line) count as words of their own. */
function tokens(mail: string): string[] {
  const bodyStart = mail.indexOf('\n');
  const subject = words(mail.slice(0, bodyStart)).map((word) => `subject:${word}`);
  return [...new Set([...subject, ...words(mail.slice(bodyStart))])];
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}$!%'-]{2,24}/gu) ?? [];
}

function probability(log2Odds: number): number {
  return 1 / (1 + 2 ** -log2Odds);
}
