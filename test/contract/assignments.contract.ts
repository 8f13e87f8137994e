// What the memory of routing promises (store/assignments.ts). Run on each adapter by assignments.test.ts.

import { describe, expect, it } from 'vitest';
import type { Assignments } from '../../store/assignments.ts';

export interface OpenedAssignments {
  readonly subject: Assignments;
  readonly dispose: (this: void) => Promise<void>;
}

export function assignmentsContract(name: string, open: () => Promise<OpenedAssignments>): void {
  const key = (text: string) => new TextEncoder().encode(text);
  const test = (what: string, body: (subject: Assignments) => Promise<void>) =>
    it(what, async () => {
      const { subject, dispose } = await open();
      try {
        await body(subject);
      } finally {
        await dispose();
      }
    });

  describe(`${name}: assignments`, () => {
    test('the first flow of an item stays', async (subject) => {
      expect(await subject.assigned('b', key('k'))).toBeUndefined();
      expect(await subject.assign('b', key('k'), 'one')).toEqual({ kind: 'done', flow: 'one' });
      expect(await subject.assign('b', key('k'), 'two')).toEqual({ kind: 'done', flow: 'one' });
      expect(await subject.assigned('b', key('k'))).toBe('one');
    });

    test('of many at once all hear of the same', async (subject) => {
      const flows = Array.from({ length: 20 }, (_, index) => `flow-${index}`);
      const answers = await Promise.all(flows.map((flow) => subject.assign('b', key('k'), flow)));
      const standing = await subject.assigned('b', key('k'));
      expect(flows).toContain(standing);
      for (const answer of answers) expect(answer).toEqual({ kind: 'done', flow: standing });
    });

    test('business lines and keys are told apart, whatever bytes a key has', async (subject) => {
      const items = [
        ['b', key('k')],
        ['b', key('K')],
        ['b', key('k/')],
        ['b', Uint8Array.of(0)],
        ['b', Uint8Array.of(0, 0)],
        ['b', Uint8Array.of(255)],
        ['b-2', key('k')],
        ['b', new Uint8Array(1_024).fill(7)],
      ] as const;
      for (const [index, [business, itemKey]] of items.entries()) {
        expect(await subject.assign(business, itemKey, `flow-${index}`)).toMatchObject({ flow: `flow-${index}` });
      }
      for (const [index, [business, itemKey]] of items.entries()) {
        expect(await subject.assigned(business, itemKey)).toBe(`flow-${index}`);
      }
    });
  });
}
