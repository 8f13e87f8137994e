import { describe, expect, it } from 'vitest';
import type { Label } from '../corpus.ts';
import { type MailText, trainScorer } from './score.ts';

const example = (label: Label, subject: string, body: string): MailText & { label: Label } => ({
  label,
  subject,
  body,
});
const examples = [
  example('spam', 'free money', 'click here to win a million dollars now'),
  example('spam', 'you win', 'free offer click now to claim your prize'),
  example('ham', 'patch for the parser', 'the attached patch fixes the header bug'),
  example('ham', 'meeting notes', 'notes of the meeting are in the repository'),
];

describe('trainScorer', () => {
  const scorer = trainScorer(examples);

  it('tells spam from ham', () => {
    expect(scorer.score({ subject: 'win money', body: 'click to claim' })).toBeGreaterThan(0.9);
    expect(scorer.score({ subject: 'notes', body: 'the patch is in the repository' })).toBeLessThan(0.1);
  });

  it('does not know a mail without a known word', () => {
    expect(scorer.score({ subject: '', body: '' })).toBe(0.5);
    expect(scorer.score({ subject: '한글', body: 'zebra' })).toBe(0.5);
  });

  it('takes words that name members of objects', () => {
    expect(scorer.score({ subject: '__proto__ constructor', body: 'toString hasOwnProperty' })).toBe(0.5);
  });

  it('gives the same score after the same learning', () => {
    const mail = { subject: 'free patch', body: 'click the header to win notes' };
    expect(trainScorer(examples).score(mail)).toBe(scorer.score(mail));
  });
});
