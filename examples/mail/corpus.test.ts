import { describe, expect, it } from 'vitest';
import { isReference, labelOf, listMails, readMail } from './corpus.ts';

const mails = listMails();

describe('the corpus', () => {
  it('has 6,046 mails under keys of their own', () => {
    expect(mails).toHaveLength(6046);
    expect(new Set(mails.map((mail) => mail.key)).size).toBe(6046);
    expect(mails[0]?.key).toBe('easy-ham-1/00001');
  });

  it('is labelled by folder', () => {
    const spam = mails.filter((mail) => labelOf(mail.key) === 'spam');
    expect(spam).toHaveLength(1896);
    expect(labelOf('hard-ham-1/00039')).toBe('ham');
  });

  it('gives the original bytes', () => {
    const broken = mails.find((mail) => mail.key === 'spam-1/00035');
    expect(broken && readMail(broken).byteLength).toBe(10513);
  });

  it('keeps a fifth of both labels as reference', () => {
    const reference = mails.filter((mail) => isReference(mail.key));
    expect(reference).toHaveLength(1210);
    expect(reference.filter((mail) => labelOf(mail.key) === 'spam')).toHaveLength(380);
  });
});
