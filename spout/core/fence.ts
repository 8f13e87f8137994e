/** Where a run stood when its index entry was read. */
export interface SeenFence {
  readonly epoch: number;
  readonly version: number;
}

export function sameFence(left: SeenFence, right: SeenFence): boolean {
  return left.epoch === right.epoch && left.version === right.version;
}
