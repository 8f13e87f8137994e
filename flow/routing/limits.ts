export const routingLimits = {
  /** Rules of one table: each is tried for an item that none before it takes, in a few microseconds. */
  maxRules: 1_000,
} as const;
