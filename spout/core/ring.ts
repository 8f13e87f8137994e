// The ring: which member owns each shard.
//
// What is divided are shards, not runs. The store has hashed each run, by its business, flow and key, into one of a fixed number of
// shards before (`shardOf`), whoever the members are: no change of members moves a run, and a member scans its shards alone.
//
// A member has many points on the ring, by its capacity, and shards lie at even distances. A shard belongs to the member of the
// next point; when that member is full, of the next point after it. Points alone can't share evenly: with 256 shards among five
// members the fullest is about 15 % above its share, 40 % at the worst, however many points there are, since chance in 51 shards
// doesn't go away. Bounds can, and cost little: over 200 draws of five members, a sixth that comes moves 1.08 times its share of 256
// shards in the middle, 1.34 times at the worst; of 1,024 shards 1.01 and 1.17 times. Bounds bind more where shards are few for
// each: a twenty-first member moves twice its share of 256 shards, 1.25 times that of 1,024.
//
// Invariants:
//   R1  The same members, in any order, are given the same shards everywhere.
//   R2  Each shard has one owner, when there are members.
//   R3  Nobody owns more or less than its share by over a tenth, rounded outwards to whole shards where a tenth is less than one.

export interface RingMember {
  /** The same over restarts where somebody gives a name: then a restart moves nothing. */
  readonly processId: string;
  /** Its weight beside the others, from 1. */
  readonly capacity: number;
}

/** Points of the largest member. With 512 no fewer shards move. The ring is made anew at each change: 8 ms with 100 members. */
const mostPoints = 256;
/** By how much a member may own more or less than its share: what is allowed here needn't move. */
const tolerance = 0.1;

interface Point {
  /** In [0, 2^32). */
  readonly at: number;
  readonly seat: Seat;
}

interface Seat {
  readonly processId: string;
  readonly least: number;
  readonly most: number;
  taken: number;
}

/** The owner, a process id, of each shard in [0, `shards`). Nobody owns anything where there are no members. Repeated ids count once. */
export function divide(members: readonly RingMember[], shards: number): readonly string[] {
  const ordered = distinct(members);
  if (ordered.length === 0) return [];
  const seats = seatsOf(ordered, shards);
  const ring = ringOf(ordered, seats);
  const owners: string[] = Array.from({ length: shards }, () => '');
  let left = shards;
  let missing = seats.reduce((sum, { least }) => sum + least, 0);
  for (const shard of inChanceOrder(shards)) {
    // Once there are only as many left as others lack, the rest goes to those.
    const isForLacking = left <= missing;
    const seat = nextSeat(ring, (shard / shards) * 2 ** 32, ({ taken, least, most }) =>
      isForLacking ? taken < least : taken < most,
    );
    if (seat.taken < seat.least) missing--;
    left--;
    seat.taken++;
    owners[shard] = seat.processId;
  }
  return owners;
}

/** In the order of their ids, which is the same everywhere; of one that is listed twice the larger capacity. */
function distinct(members: readonly RingMember[]): RingMember[] {
  const byId = new Map<string, RingMember>();
  for (const member of members) {
    const other = byId.get(member.processId);
    if (!other || other.capacity < member.capacity) byId.set(member.processId, member);
  }
  return [...byId.values()].sort((one, other) => (one.processId < other.processId ? -1 : 1));
}

function seatsOf(members: readonly RingMember[], shards: number): Seat[] {
  const total = members.reduce((sum, { capacity }) => sum + capacity, 0);
  return members.map(({ processId, capacity }) => {
    const share = (shards * capacity) / total;
    const least = Math.min(Math.floor(share), Math.ceil(share * (1 - tolerance)));
    const most = Math.max(Math.ceil(share), Math.floor(share * (1 + tolerance)));
    return { processId, least, most, taken: 0 };
  });
}

function ringOf(members: readonly RingMember[], seats: readonly Seat[]): Point[] {
  const largest = Math.max(...members.map(({ capacity }) => capacity));
  const points: Point[] = [];
  for (const [index, seat] of seats.entries()) {
    const weight = (members[index]?.capacity ?? 0) / largest;
    const id = hashOf(seat.processId);
    for (let point = 1; point <= Math.max(1, Math.round(mostPoints * weight)); point++) {
      points.push({ at: mixed(id ^ mixed(point)), seat });
    }
  }
  // Points at the same place keep the order of the ids.
  return points.sort((one, other) => one.at - other.at);
}

/** The seat at the next point from `at` on, around the ring, that has room. */
function nextSeat(ring: readonly Point[], at: number, hasRoom: (seat: Seat) => boolean): Seat {
  let first = 0;
  for (let end = ring.length; first < end; ) {
    const middle = (first + end) >>> 1;
    if ((ring[middle]?.at ?? 0) < at) first = middle + 1;
    else end = middle;
  }
  for (let step = 0; step < ring.length; step++) {
    const point = ring[(first + step) % ring.length];
    if (point && hasRoom(point.seat)) return point.seat;
  }
  throw new Error('invariant R2: nobody has room for a shard');
}

/** So that who is passed over for being full isn't always passed over at the same part of the ring. */
function inChanceOrder(shards: number): number[] {
  const places = Array.from({ length: shards }, (_, shard) => ({ shard, place: mixed(shard + 1) }));
  return places.sort((one, other) => one.place - other.place).map(({ shard }) => shard);
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

/** Numbers that differ in one bit come to lie far apart, in [0, 2^32). */
function mixed(number: number): number {
  let hash = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
