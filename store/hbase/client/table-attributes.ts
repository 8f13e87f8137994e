// Attributes of a table that the store relies on; one spread into `NewTable.attributes` each.

/** Loads the endpoint behind `mutateRows`; it is part of HBase (2.4 or later for conditions). */
export const multiRowMutations: Readonly<Record<string, string>> = {
  coprocessor$1: '|org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint|1073741823|',
};

/** Regions keep the bounds they were made with, so rows that change together stay together. */
export const neverSplit: Readonly<Record<string, string>> = {
  SPLIT_POLICY: 'org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy',
};
