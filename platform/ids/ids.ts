// The port to randomness that must be unique: ids of writes, processes, requests.

export interface Ids {
  /** Unique among all processes and restarts. At most 64 printable ASCII characters. */
  next(): string;
}
