import { isReference, type Label, labelOf, listMails, readMail } from '../corpus.ts';
import { parseMail } from './parse.ts';

export interface ReferenceMail {
  readonly key: string;
  readonly label: Label;
  readonly subject: string;
  readonly body: string;
}

/** The part of the corpus that modules know beforehand, parsed as the flow parses it. Takes about a second. */
export async function readReference(): Promise<ReferenceMail[]> {
  const reference: ReferenceMail[] = [];
  for (const mail of listMails()) {
    if (!isReference(mail.key)) continue;
    const { subject, body } = await parseMail(readMail(mail));
    reference.push({ key: mail.key, label: labelOf(mail.key), subject, body });
  }
  return reference;
}
