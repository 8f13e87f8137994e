// People's addresses are in the corpus as they were sent. Whatever leaves `mail.parse` (and so all that the engine shows)
// has passed through here; the raw mail stays an opaque input field. Addresses are found by their form, and names by the
// address behind them; other names in running text are not recognised.

const hidden = '***';

// Bounded, so that a mail of garbage costs linear time. The standard allows 64 characters before the `@`; return
// addresses of mailing lists that carry another address inside are longer.
const local = String.raw`[\p{L}\p{N}.!#$%&'*+=^_\x60{|}~-]{1,128}`;
const domain = String.raw`\[?(?:[\p{L}\p{N}_-]{1,63}\.){0,8}[\p{L}\p{N}_-]{1,63}`;
// `@` as itself, in a URL, in HTML, and as people write it to hide from harvesters.
const at = String.raw`(?:@|%40|&#0{0,4}64;|\s?[([{]\s?at\s?[)\]}]\s?)`;
// What is masked already is found again and stays as it is.
const masked = String.raw`(?:\*{3}(?:\.\p{L}{1,63})?)?`;
const plainAddress = new RegExp(`(${local})${at}(${domain}${masked})`, 'giu');
const spelledAddress = new RegExp(
  String.raw`([\p{L}\p{N}._+-]{1,128})\s{1,3}at\s{1,3}([\p{L}\p{N}-]{1,63}(?:\s{1,3}dot\s{1,3}[\p{L}\p{N}-]{1,63}){1,8})`,
  'giu',
);
// `Anna Lee <a***@…`: capitalised words before an address in angle brackets.
const namedAddress = /((?:["']?\p{Lu}[\p{L}.'-]{0,40}["']? ){1,4})(?=<[\p{L}\p{N}]?\*{3}@)/gu;

/** `anna@example.com` as `a***@e***.com`; what has no `@` becomes `***`. */
export function maskAddress(address: string): string {
  const split = address.lastIndexOf('@');
  return split < 0 ? hidden : maskParts(address.slice(0, split), address.slice(split + 1));
}

/** `text` with every e-mail address in it masked, and the name that stands before one. */
export function maskAddresses(text: string): string {
  const mask = (_found: string, local: string, domain: string) => maskParts(local, domain);
  return text
    .replace(plainAddress, mask)
    .replace(spelledAddress, mask)
    .replace(namedAddress, (name: string) => `${maskName(name)} `);
}

/** `Anna Lee <anna@example.com>` as `A*** L*** <a***@e***.com>`. At most four words of the name are kept. */
export function maskMailbox(mailbox: { name: string; address: string }): string {
  const name = mailbox.name.includes('@') ? '' : maskName(mailbox.name);
  const address = maskAddress(mailbox.address);
  return name === '' ? address : `${name} <${address}>`;
}

function maskName(name: string): string {
  const words = name.split(/\s+/u).filter((word) => word !== '');
  return words
    .slice(0, 4)
    .map((word) => firstLetter(word) + hidden)
    .join(' ');
}

function maskParts(local: string, domain: string): string {
  const labels = domain.split(/\s+dot\s+|\./iu);
  const top = labels.length > 1 && /^\p{L}+$/u.test(labels.at(-1) ?? '') ? `.${labels.at(-1)}` : '';
  return `${firstLetter(local)}${hidden}@${firstLetter(domain)}${hidden}${top}`;
}

function firstLetter(text: string): string {
  return /[\p{L}\p{N}]/u.exec(text)?.[0] ?? '';
}
