import { describe, expect, it } from 'vitest';
import { listMails, readMail } from '../corpus.ts';
import { parseMail } from './parse.ts';

const bytes = (...lines: (string | Buffer)[]) =>
  Buffer.concat(
    lines.flatMap((line) => [Buffer.isBuffer(line) ? line : Buffer.from(line, 'latin1'), Buffer.from('\r\n')]),
  );

describe('parseMail', () => {
  it('gives the texts of a mail, with addresses masked', async () => {
    const mail = bytes(
      'From anna@example.com  Thu Aug 22 12:36:23 2002',
      'From: Anna Lee <anna@example.com>',
      'To: bob@example.org, carol@example.org',
      'Subject: =?utf-8?q?caf=C3=A9?= for dave@example.net',
      '',
      'Ask erin@example.com.',
    );
    expect(await parseMail(mail)).toEqual({
      subject: 'café for d***@e***.net',
      body: 'Ask e***@e***.com.',
      sender: 'A*** L*** <a***@e***.com>',
      recipient: 'b***@e***.org and 1 more',
      parse_problem: '',
    });
  });

  it('decodes the charset that the mail names', async () => {
    const mail = bytes('Content-Type: text/plain; charset=euc-kr', '', Buffer.from([0xc7, 0xd1, 0xb1, 0xdb]));
    expect((await parseMail(mail)).body).toBe('한글');
  });

  it('reads a mail in a charset that does not exist', async () => {
    const mail = bytes('Subject: x', 'Content-Type: text/plain; charset=no-such-charset', '', 'plain words');
    expect(await parseMail(mail)).toMatchObject({ body: 'plain words', parse_problem: '' });
  });

  it('takes the words of an HTML mail', async () => {
    const mail = bytes(
      'Content-Type: text/html',
      '',
      '<style>p{}</style><p>One<br>two &amp; three<script>x()</script>',
    );
    expect((await parseMail(mail)).body).toBe('One\ntwo & three');
  });

  it('guesses at what the MIME parser refuses', async () => {
    const mail = bytes('Subject: endless anna@example.com', `X-Long: ${'x'.repeat(3_000_000)}`, '', 'body');
    expect(await parseMail(mail)).toEqual({
      subject: 'endless a***@e***.com',
      body: 'body',
      sender: '',
      recipient: '',
      parse_problem: 'not readable as MIME',
    });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(10_000)],
    ['all bytes', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167) % 256))],
    ['a boundary that never comes', bytes('Content-Type: multipart/mixed; boundary="x"', '', '--y', 'text')],
    ['an empty address list', bytes('From: <>', 'To: ;;,', '', '')],
  ])('takes %s', async (_name, mail) => {
    const parsed = await parseMail(mail);
    expect(Object.values(parsed).every((value) => value.isWellFormed())).toBe(true);
  });

  it('lets no control character through', async () => {
    const mail = bytes('Subject: =?utf-8?q?a=1B[31mb=00?=', '', 'c\x1b]0;d\x07');
    expect(await parseMail(mail)).toMatchObject({ subject: 'a [31mb', body: 'c ]0;d' });
  });

  it('takes every mail of the corpus, and leaves no address in it', async () => {
    const addresses: string[] = [];
    for (const mail of listMails()) {
      const { subject, body, sender, recipient, parse_problem } = await parseMail(readMail(mail));
      if (/[\p{L}\p{N}._-]{2,}@[\p{L}\p{N}]{2}/u.test(`${subject}\n${body}\n${sender}\n${recipient}`))
        addresses.push(mail.key);
      if (parse_problem !== '') addresses.push(mail.key);
    }
    expect(addresses).toEqual([]);
  }, 60_000);
});
