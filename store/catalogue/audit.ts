// Who changed what, and why, as they say themselves.

export interface Audit {
  /** Empty when unknown. */
  readonly author: string;
  readonly comment: string;
}

export const auditLimits = {
  maxAuthorCharacters: 128,
  maxCommentCharacters: 1_024,
} as const;
