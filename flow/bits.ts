// A set of small numbers as bits: the lowest bit of the first byte is 0.

export function emptyBits(count: number): Uint8Array {
  return new Uint8Array(Math.ceil(count / 8));
}

export function hasBit(bits: Uint8Array, index: number): boolean {
  return ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

/** A copy with one more. */
export function withBit(bits: Uint8Array, index: number): Uint8Array {
  const copy = bits.slice();
  copy[index >> 3] = (copy[index >> 3] ?? 0) | (1 << (index & 7));
  return copy;
}

/** How many there are below `end`; all of them where it is left out. */
export function countBits(bits: Uint8Array, end = bits.length * 8): number {
  const whole = end >> 3;
  const view = new DataView(bits.buffer, bits.byteOffset, bits.length);
  let count = 0;
  let place = 0;
  // Four bytes at a time: a list of thousands is counted for each of its elements.
  for (; place + 4 <= whole; place += 4) count += ones(view.getUint32(place));
  for (; place < whole; place++) count += ones(bits[place] ?? 0);
  return count + ones((bits[whole] ?? 0) & ((1 << (end & 7)) - 1));
}

/** Ones of 32 bits: summed in pairs, in fours, in bytes, and by the multiplication in the highest byte. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
