// `mail.publish`, `mail.quarantine`, `mail.review`: each gives a mail its place.

/**
 * Where a mail lies. It depends on the folder and the key alone: a call that is repeated, on whatever endpoint, puts the mail
 * where it is already, so the effect is that of one call.
 */
export function placeOf(folder: string, key: string): string {
  return `${folder}/${key}`;
}

/** What a person who reviews a mail is told. */
export function reviewReason(verdict: { spamScore: number; nearDuplicateOf: string }): string {
  if (verdict.nearDuplicateOf !== '') return `nearly the same as ${verdict.nearDuplicateOf}`;
  return `spam score ${verdict.spamScore} is no clear answer`;
}
