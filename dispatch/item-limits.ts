/** What an item may carry at most: checked where it comes in, so that nothing later can fail because of its size. */
export const itemLimits = {
  /** A larger value goes by reference. */
  maxFieldBytes: 1_048_576,
  /** All values of one item together. */
  maxItemBytes: 4 * 1_048_576,
  /** Every run holds a cell for each. */
  maxFields: 256,
  hashBytes: 32,
  maxLocationBytes: 2_048,
} as const;
