// `mail.parse`: a raw mail as it came over the wire becomes the few texts that the other modules read.
import PostalMime, { type Address, type Email } from 'postal-mime';
import { maskAddresses, maskMailbox } from '../mask.ts';
import { plainText } from './plain-text.ts';

/** What the flow receives from `mail.parse`. Addresses are masked in all of it. */
export interface ParsedMail {
  readonly subject: string;
  readonly body: string;
  readonly sender: string;
  /** The first recipient, and how many more there are. */
  readonly recipient: string;
  /** Empty for a mail that the MIME parser took; otherwise why the result is a guess. */
  readonly parse_problem: string;
}

// Characters. Nobody writes a longer subject, and a header may be as long as a mail.
const maxSubject = 500;
// Characters. 99 of 100 mails are shorter; what follows in the others is quoted digests and inlined files, which the
// modules would cut anyway. Keeps a run small in the store.
const maxBody = 20_000;

/** Never throws for any bytes: what the MIME parser refuses is split into head and body as well as can be. */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const mail = withoutEnvelopeLine(raw);
  let email: Email;
  try {
    email = await PostalMime.parse(mail);
  } catch {
    return bestEffort(mail);
  }
  const [first, ...others] = mailboxes(email.to ?? email.cc ?? []);
  return {
    subject: clean(email.subject ?? '', maxSubject),
    body: clean(bodyOf(email), maxBody),
    sender: maskedMailbox(mailboxes(email.from ? [email.from] : [])[0]),
    recipient: maskedMailbox(first) + (others.length > 0 ? ` and ${others.length} more` : ''),
    parse_problem: '',
  };
}

function bodyOf(email: Email): string {
  const text = email.text?.trim() ?? '';
  return text === '' ? plainText(email.html ?? '', 2 * maxBody) : text;
}

/** A mailbox file starts each mail with `From sender date`, which is no header. */
function withoutEnvelopeLine(raw: Uint8Array): Uint8Array {
  const isEnvelope = Buffer.from(raw.subarray(0, 5)).toString('latin1') === 'From ';
  return isEnvelope ? raw.subarray(raw.indexOf(0x0a) + 1) : raw;
}

function bestEffort(mail: Uint8Array): ParsedMail {
  const text = Buffer.from(mail).toString('latin1');
  const headEnd = /\r?\n\r?\n/u.exec(text);
  const head = headEnd ? text.slice(0, headEnd.index) : '';
  return {
    subject: clean(/^subject:(.*)$/imu.exec(head)?.[1] ?? '', maxSubject),
    body: clean(plainText(headEnd ? text.slice(headEnd.index) : text, 2 * maxBody), maxBody),
    sender: '',
    recipient: '',
    parse_problem: 'not readable as MIME',
  };
}

function mailboxes(addresses: readonly Address[]): { name: string; address: string }[] {
  return addresses.flatMap((address) => address.group ?? [{ name: address.name, address: address.address ?? '' }]);
}

function maskedMailbox(mailbox: { name: string; address: string } | undefined): string {
  return mailbox === undefined ? '' : clean(maskMailbox(mailbox), maxSubject);
}

// Masked before it is cut to size, since half an address would not be recognised. What is masked is bounded too, between
// two words: a mail of garbage must not hold up the others.
function clean(text: string, maxCharacters: number): string {
  let head = text.slice(0, 2 * maxCharacters);
  if (head.length < text.length) head = head.slice(0, Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'), 0));
  const printable = head.toWellFormed().replace(controlCharacters, ' ').trim();
  return maskAddresses(printable).slice(0, maxCharacters).toWellFormed();
}

// Escape sequences in a subject must not reach a terminal.
const controlCharacters = /[^\P{Cc}\n\t]/gu;
