import { describe, expect, it } from 'vitest';
import { SpoutSettingsError, spoutDefaults, spoutSettings } from './settings.ts';

describe('spoutSettings', () => {
  it('has the defaults, which are allowed themselves', () => {
    expect(spoutSettings({})).toEqual(spoutDefaults);
    expect(spoutSettings({ graceMs: 1 }).graceMs).toBe(1);
  });

  it.each<[Record<string, number>, string]>([
    [{ scanEveryMs: 0 }, 'scanEveryMs is 0, allowed are whole numbers from 1 to 86400000 (ms)'],
    [{ rescanMs: 1.5 }, 'rescanMs is 1.5'],
    [{ graceMs: Number.NaN }, 'graceMs is NaN'],
    [{ pageEntries: 1_001 }, 'pageEntries is 1001, allowed are whole numbers from 1 to 1000'],
    [{ maxScans: -1 }, 'maxScans is -1'],
    [{ unheardOf: 3 }, 'unheardOf is unknown'],
    [{ firstPenaltyMs: 200_000 }, 'firstPenaltyMs is 200000, allowed is at most longestPenaltyMs, which is 120000'],
  ])('refuses %o', (chosen, message) => {
    expect(() => spoutSettings(chosen)).toThrow(SpoutSettingsError);
    expect(() => spoutSettings(chosen)).toThrow(message);
  });

  it('names all problems at once', () => {
    expect(() => spoutSettings({ stuckMs: 0, maxLeases: 0 })).toThrow(/stuckMs.*maxLeases/);
  });
});
