// Which shards are ours: rendezvous hashing. Every spout computes the same answer from the same members, and a member that comes
// or goes moves only the shards that it gains or leaves behind, about 1/n of all.

/**
 * The shards in [0, `shards`) that `self` owns among `members`, ascending; none while `self` isn't a member. A member is its
 * process id, so that a restart under the same id moves nothing; repeated ids count once.
 */
export function ownShards(self: string, members: readonly string[], shards: number): number[] {
  const others = [...new Set(members)].filter((member) => member !== self);
  if (!members.includes(self)) return [];
  const owned: number[] = [];
  for (let shard = 0; shard < shards; shard++) {
    const own = weight(self, shard);
    if (others.every((other) => goesBefore(self, own, other, weight(other, shard)))) owned.push(shard);
  }
  return owned;
}

function goesBefore(member: string, weight: number, other: string, otherWeight: number): boolean {
  return weight === otherWeight ? member < other : weight > otherWeight;
}

/** FNV-1a over the member and the shard, then mixed: ids that differ in one letter must not get similar weights. */
function weight(member: string, shard: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < member.length; index++) hash = Math.imul(hash ^ member.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ shard, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
