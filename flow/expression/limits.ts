// What an expression may cost. A flow's author writes expressions, items bring the values: neither may hold up a dispatch.

export const expressionLimits = {
  /** Characters of an expression. What needs more is a module. */
  maxSourceCharacters: 4_096,
  /** Brackets inside one another: the parser recurses on them. */
  maxNesting: 64,
  /** Operators inside one another, as in `a + b + c …`: planner and evaluation recurse on them. */
  maxDepth: 256,
  /** all, exists, exists_one, filter and map inside one another: their work multiplies. */
  maxComprehensionNesting: 2,
  /** Characters of the pattern of `matches`. */
  maxPatternCharacters: 256,
  /**
   * Work of one evaluation, in units of about a microsecond at most: one per node of each round of a comprehension, one
   * per value and per 16 characters read. Reached after a fraction of a second; an ordinary condition costs under 100.
   */
  maxWork: 1_000_000,
  /** Elements of one list, whether it came with a field or was computed. */
  maxListElements: 10_000,
  /** Values of one JSON field on all levels, for the same reason. */
  maxJsonValues: 100_000,
  /** Levels of one JSON field: what walks it recurses. */
  maxJsonDepth: 64,
  /** Characters of a computed text: as many as the largest field. */
  maxTextCharacters: 1_048_576,
  /** Bytes of a field that an INLINE step writes: it computes verdicts, not documents. */
  maxOutputBytes: 65_536,
} as const;
