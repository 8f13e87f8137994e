// Suggestions for names that nobody declared.

/** Edits up to which a name counts as meant: more than two typing errors is another word. */
const maxEdits = 2;

/** The name among `names` that is nearest to `name`, if one is near enough to be what was meant; the first of equals. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestEdits = maxEdits + 1;
  for (const candidate of names) {
    const edits = editDistance(name, candidate, bestEdits);
    if (edits < bestEdits && edits < candidate.length) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

/** `; did you mean …?`, or nothing: stands at the end of a message. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

/** Insertions, deletions and replacements between two names; `limit` when there are at least that many. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit;
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const edits = Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least >= limit) return limit;
    above = current;
  }
  return above[to.length] ?? limit;
}
