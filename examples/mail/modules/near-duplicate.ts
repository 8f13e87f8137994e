// `text.neardup`: whether a text is nearly the same as one of a fixed reference set, by min-hash.
//
// The reference set is fixed when the module starts and nothing is added to it, so the answer depends on the text and its key
// alone: order, retries and endpoints cannot change it. Of several similar references the smallest key wins; when that is
// the text's own key, the text is the original.

export interface Reference {
  readonly key: string;
  readonly text: string;
}

export interface NearDuplicates {
  /** The smallest key of the reference set under which nearly the same text lies; empty when there is none, or it is `key`. */
  find(key: string, text: string): string;
}

// Hash functions. The share of equal minima estimates the share of common shingles, within 0.06 at 64.
const signatureLength = 64;
// Rows of a band: two texts meet when one band is equal. With 4 of 64, texts of 0.8 similarity miss each other in 1 case of 5,000.
const bandRows = 4;
// The share of common shingles from which texts count as nearly the same. Newsletters that share only their frame stay below.
const minSimilarity = 0.8;
// Words in a shingle: long enough that common phrases are no evidence.
const shingleWords = 4;
// Words. Below, a text says too little to be called a copy.
const minWords = 20;
// Words. Two texts with the same first thousands are copies whatever follows.
const maxWords = 3_000;

/** Builds the index; for two references with one key the last counts. */
export function indexReferences(references: Iterable<Reference>): NearDuplicates {
  const signatures = new Map<string, Uint32Array>();
  const bands = new Map<string, string[]>();
  for (const { key, text } of references) {
    const signature = signatureOf(text);
    if (signature === undefined) continue;
    signatures.set(key, signature);
    for (const band of bandsOf(signature)) {
      const keys = bands.get(band);
      if (keys === undefined) bands.set(band, [key]);
      else keys.push(key);
    }
  }
  return {
    find(key, text) {
      const signature = signatureOf(text);
      if (signature === undefined) return '';
      let smallest = '';
      for (const candidate of new Set(bandsOf(signature).flatMap((band) => bands.get(band) ?? []))) {
        if (smallest !== '' && candidate >= smallest) continue;
        const other = signatures.get(candidate);
        if (other !== undefined && similarity(signature, other) >= minSimilarity) smallest = candidate;
      }
      return smallest === key ? '' : smallest;
    },
  };
}

/** For each hash function the smallest hash of a shingle of `text`; nothing for a text of too few words. */
function signatureOf(text: string): Uint32Array | undefined {
  const words = (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, maxWords);
  if (words.length < minWords) return undefined;
  const hashes = words.map(hashText);
  const signature = new Uint32Array(signatureLength).fill(0xffffffff);
  for (let start = 0; start + shingleWords <= hashes.length; start += 1) {
    let shingle = 0;
    for (const hash of hashes.slice(start, start + shingleWords)) shingle = mix(shingle ^ hash);
    for (let index = 0; index < signatureLength; index += 1) {
      const hash = mix(shingle ^ Math.imul(index + 1, 0x9e3779b9));
      if (hash < (signature[index] ?? 0)) signature[index] = hash;
    }
  }
  return signature;
}

function bandsOf(signature: Uint32Array): string[] {
  const bands: string[] = [];
  for (let start = 0; start < signatureLength; start += bandRows) {
    bands.push(`${start}:${signature.subarray(start, start + bandRows).join()}`);
  }
  return bands;
}

function similarity(one: Uint32Array, other: Uint32Array): number {
  let equal = 0;
  for (let index = 0; index < signatureLength; index += 1) if (one[index] === other[index]) equal += 1;
  return equal / signatureLength;
}

/** FNV-1a over the UTF-16 units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Spreads 32 bits over 32 bits, one to one; the finisher of MurmurHash3. */
function mix(bits: number): number {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
