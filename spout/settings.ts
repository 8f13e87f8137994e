// Settings of a spout: unit, default and reason of each.

export interface SpoutSettings {
  /**
   * How long the list of spouts must have been quiet before the shards are divided anew, in ms. [500] At most twice as long, when it
   * doesn't come to rest. Spouts of a cluster that starts, or a session that is made again, come in one move; shards of a spout that
   * died wait no longer than they must.
   */
  readonly settleMs: number;
  /**
   * How long a shard that comes from a spout that lives is left alone, in ms. [1,000] So far apart may two spouts hear of a change;
   * a page that was under way and the claims of the last offers are done by then.
   */
  readonly handOverMs: number;
  /**
   * How long a spout that comes back for the second time isn't relied on, in ms: those that had its shards go on scanning them.
   * [10,000] Twice as long each further time. A process that dies again and again takes longer than that to die.
   */
  readonly firstPenaltyMs: number;
  /** The longest such time, in ms. [120,000] What two spouts scan costs offers in vain, so that it must end. */
  readonly longestPenaltyMs: number;
  /** After how long a spout's departure is forgotten, in ms. [600,000] Five of the longest penalties. */
  readonly flapMemoryMs: number;

  /** Pause after a pass that found nothing ready, in ms. [200] What a run waits at most that could not start at once, when idle. */
  readonly scanEveryMs: number;
  /** Pause after a pass that offered runs, in ms. [20] More comes where some came; dispatches must not run dry meanwhile. */
  readonly scanAgainMs: number;
  /** Age at which a pass begins again at the first rows, in ms. [1,000] Entries may be written before the place it has reached. */
  readonly rescanMs: number;
  /** Entries in a page of a scan, 1 to 1,000. [100] Enough to make a read worth its while; a page of each shard is kept. */
  readonly pageEntries: number;
  /** Scans under way at once. [16] Hides the latency of a remote store without crowding it. */
  readonly maxScans: number;

  /** How long an offered run rests without an answer, in ms. [5,000] Longer than a claim takes behind a full queue of claims. */
  readonly offerTimeoutMs: number;
  /**
   * How long a run rests that a dispatch didn't take, in ms. [250] When there was nothing to take it doubles with each time at the
   * same fence, up to `offerTimeoutMs`; when there was only no room it doesn't.
   */
  readonly reofferMs: number;
  /** Offers remembered. [50,000] More than the credits of many dispatches; about 10 MB. */
  readonly maxOffers: number;
  /** Runs that wait for credits ahead of the ready ones. [1,000] What finds no place is found again by the next pass. */
  readonly maxUrgent: number;

  /** Pause between passes over due timers, in ms. [100] How late a sleeping run wakes on average is half of it. */
  readonly promoteEveryMs: number;

  /** Pause between passes over due leases, in ms. [1,000] Short beside `graceMs`, which a lost run waits anyway. */
  readonly leaseEveryMs: number;
  /** A holder is asked again after it said yes, or the fence moved, in ms. [10,000] As long as a fresh lease isn't due. */
  readonly askAfterMs: number;
  /** How long an answer of a holder is awaited, in ms. [2,000] Then it is asked again: silence gives no run away. */
  readonly askTimeoutMs: number;
  /** Questions without an answer at once. [1,000] The rest is asked by the next pass. */
  readonly maxQuestions: number;
  /** How long a holder must be gone before its runs are offered unasked, in ms. [12,000] Two sessions of 6 s. */
  readonly graceMs: number;
  /** A run held this long at one fence raises an alarm, in ms. [600,000] Longer than calls usually take. */
  readonly stuckMs: number;
  /** Leases remembered. [100,000] More than the runs that many dispatches hold; about 20 MB. */
  readonly maxLeases: number;

  /** Pause between passes over the inboxes, in ms. [200] Events to runs that nobody holds are found by it alone. */
  readonly inboxEveryMs: number;
  /** Pause between two nudges, or looks, because of one run's inbox, in ms. [1,000] The first one is seldom lost. */
  readonly nudgeEveryMs: number;
  /** Runs remembered as nudged. [50,000] Forgetting one early costs a nudge. */
  readonly maxNudges: number;

  /** First pause after the store failed on a shard, in ms. [50] Doubles with each failure, with jitter. */
  readonly firstBackoffMs: number;
  /** Longest such pause, in ms. [5,000] Soon enough once the store is back. */
  readonly maxBackoffMs: number;
}

export const spoutDefaults: SpoutSettings = {
  settleMs: 500,
  handOverMs: 1_000,
  firstPenaltyMs: 10_000,
  longestPenaltyMs: 120_000,
  flapMemoryMs: 600_000,
  scanEveryMs: 200,
  scanAgainMs: 20,
  rescanMs: 1_000,
  pageEntries: 100,
  maxScans: 16,
  offerTimeoutMs: 5_000,
  reofferMs: 250,
  maxOffers: 50_000,
  maxUrgent: 1_000,
  promoteEveryMs: 100,
  leaseEveryMs: 1_000,
  askAfterMs: 10_000,
  askTimeoutMs: 2_000,
  maxQuestions: 1_000,
  graceMs: 12_000,
  stuckMs: 600_000,
  maxLeases: 100_000,
  inboxEveryMs: 200,
  nudgeEveryMs: 1_000,
  maxNudges: 50_000,
  firstBackoffMs: 50,
  maxBackoffMs: 5_000,
};

/** A day in ms, a million of anything: beyond it a setting is a slip of the pen. */
const mostOf = { milliseconds: 86_400_000, count: 1_000_000, pageEntries: 1_000 };

/** A setting is outside its range. The message names every such setting, what was found and what is allowed. */
export class SpoutSettingsError extends Error {
  override readonly name = 'SpoutSettingsError';
}

/** The defaults with `chosen` in their place. Throws SpoutSettingsError: a process must not start on settings nobody meant. */
export function spoutSettings(chosen: Partial<SpoutSettings>): SpoutSettings {
  const settings: SpoutSettings = { ...spoutDefaults, ...chosen };
  const problems: string[] = [];
  for (const [name, value] of Object.entries(settings) as Array<[string, unknown]>) {
    if (!(name in spoutDefaults)) {
      problems.push(`${name} is unknown`);
      continue;
    }
    const isTime = name.endsWith('Ms');
    const most = name === 'pageEntries' ? mostOf.pageEntries : isTime ? mostOf.milliseconds : mostOf.count;
    if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > most) {
      problems.push(`${name} is ${String(value)}, allowed are whole numbers from 1 to ${most}${isTime ? ' (ms)' : ''}`);
    }
  }
  const { firstPenaltyMs, longestPenaltyMs } = settings;
  if (firstPenaltyMs > longestPenaltyMs) {
    problems.push(
      `firstPenaltyMs is ${firstPenaltyMs}, allowed is at most longestPenaltyMs, which is ${longestPenaltyMs}`,
    );
  }
  if (problems.length > 0) throw new SpoutSettingsError(`settings of the spout: ${problems.join('; ')}`);
  return settings;
}
