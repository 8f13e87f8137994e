import { describe, expect, it } from 'vitest';
import { progressLine } from './progress.ts';

describe('progressLine', () => {
  it('fills up', () => {
    expect(progressLine(0, 6_046)).toBe(`${'░'.repeat(30)} 0 of 6,046 mails`);
    expect(progressLine(3_023, 6_046)).toBe(`${'█'.repeat(15)}${'░'.repeat(15)} 3,023 of 6,046 mails`);
    expect(progressLine(6_046, 6_046)).toBe(`${'█'.repeat(30)} 6,046 of 6,046 mails`);
  });
});
