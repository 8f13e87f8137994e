import { labelOf, type Mail, readMail } from '../corpus.ts';

export const flow = 'mail-intake';

/** One line of JSON for each mail, as `weir submit` reads them. Bytes travel as base64, texts as they are. */
export function* itemLines(mails: Iterable<Mail>): Generator<string> {
  for (const mail of mails) {
    const fields = { raw: { base64: readMail(mail).toString('base64') }, label: labelOf(mail.key) };
    yield `${JSON.stringify({ business: 'mail', flow, key: mail.key, fields })}\n`;
  }
}
