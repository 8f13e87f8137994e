import { describe, expect, it } from 'vitest';
import { Absences } from './absences.ts';

const a = new Set(['a']);
const none = new Set<string>();

describe('Absences', () => {
  it('counts from when a holder was missed', () => {
    const absences = new Absences();
    absences.resume(100, 100);
    absences.see(a, 100);
    expect(absences.goneForMs('a', 500)).toBe(0);
    absences.see(none, 600);
    expect(absences.goneForMs('a', 700)).toBe(100);
    absences.see(none, 800);
    expect(absences.goneForMs('a', 900)).toBe(300);
    absences.see(a, 1_000);
    expect(absences.goneForMs('a', 1_100)).toBe(0);
    absences.see(none, 1_200);
    expect(absences.goneForMs('a', 1_300)).toBe(100);
  });

  it('counts one that was never seen from the first complete reading', () => {
    const absences = new Absences();
    expect(absences.goneForMs('never', 5_000)).toBe(0);
    absences.resume(5_000, 5_000);
    absences.see(a, 5_000);
    expect(absences.goneForMs('never', 5_000)).toBe(0);
    expect(absences.goneForMs('never', 5_300)).toBe(300);
  });

  it('stands while the view does, and until it is sure again', () => {
    const absences = new Absences();
    absences.resume(0, 0);
    absences.see(a, 0);
    absences.see(none, 10);
    absences.pause(30);
    expect(absences.goneForMs('a', 1_000)).toBe(20);
    absences.resume(3_000, 2_000);
    absences.see(none, 2_000);
    expect(absences.goneForMs('a', 2_999)).toBe(20);
    expect(absences.goneForMs('a', 3_005)).toBe(25);
    absences.pause(3_010);
    absences.pause(3_020);
    expect(absences.goneForMs('a', 9_000)).toBe(30);
  });

  it('remembers a bounded number, and forgets to the side of longer missed', () => {
    const absences = new Absences();
    absences.resume(0, 0);
    for (let index = 0; index <= 10_000; index++) {
      absences.see(new Set([String(index)]), index);
    }
    absences.see(none, 20_000);
    expect(absences.goneForMs('0', 20_000)).toBe(20_000);
    expect(absences.goneForMs('9999', 20_000)).toBe(10_000);
  });
});
