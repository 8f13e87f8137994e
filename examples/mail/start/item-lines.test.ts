import { describe, expect, it } from 'vitest';
import { listMails } from '../corpus.ts';
import { itemLines } from './item-lines.ts';

describe('itemLines', () => {
  it('keeps the bytes of a mail that is no UTF-8', () => {
    const [line] = itemLines(listMails().filter((mail) => mail.key === 'spam-1/00035'));
    const item = JSON.parse(line ?? '') as { key: string; fields: { raw: { base64: string }; label: string } };
    expect(item).toMatchObject({
      business: 'mail',
      flow: 'mail-intake',
      key: 'spam-1/00035',
      fields: { label: 'spam' },
    });
    expect(Buffer.from(item.fields.raw.base64, 'base64').byteLength).toBe(10513);
  });

  it('stays within the limit of a field for every mail', () => {
    let largest = 0;
    for (const line of itemLines(listMails())) largest = Math.max(largest, line.length);
    expect(largest).toBeLessThan(1_000_000);
  });
});
