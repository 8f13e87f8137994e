// What a flow may be, and what it is where its author says nothing.

const secondMs = 1_000;
const dayMs = 24 * 60 * 60 * secondMs;

export const flowLimits = {
  /** Bytes of the text, and of the flow as stored: both lie in one configuration entry, which has at most 1 MB. */
  maxFlowBytes: 480_000,
  /** Levels of the text: a flow needs seven, and what walks the text recurses. */
  maxTextNesting: 32,
  /** Words, signs and spaces of the text. The largest flows that make sense have a quarter; a text of signs only is slow to read. */
  maxTextTokens: 200_000,
  /** Problems of one answer: nobody reads more, and a broken text has as many as characters. */
  maxProblems: 100,
  /** Steps of one flow: every run holds a cell for each. */
  maxSteps: 1_000,
  /** Cases of one switch, tried one after the other. */
  maxCases: 1_000,
  /** Declared fields of one flow. */
  maxFields: 1_000,
  /** Fields that one call sends or receives. */
  maxFieldsPerCall: 100,
  /** Steps that write one field: a reader looks at each. */
  maxWriters: 32,
  maxExitCalls: 16,
  /** Names of signals that one flow waits for: a run keeps those that come early. */
  maxSignals: 100,
  /** Elements of a list that a step does the same for, known when it runs: a run keeps two bits and a result for each. */
  maxBranches: 10_000,
  /** Bytes of the joined results of all branches: as many as the largest field. */
  maxResultBytes: 1_048_576,
  /** Branches under way at a time: each is a cell of the run, and a call or another run. */
  maxConcurrency: 256,
  /** Runs of a chain in which each starts the next: what needs more is a loop. */
  maxGenerations: 10_000,
  /** Flows that wait inside one another, below the first: a cancel goes down level by level. */
  maxSubFlowNesting: 16,
  maxDescriptionCharacters: 4_096,
  /** Characters of names of flows, business lines, steps and fields; they become parts of keys. */
  maxNameCharacters: 64,
  maxModuleCharacters: 128,
  /** Characters of an address. Longer ones do not pass many proxies. */
  maxUrlCharacters: 2_048,
  /** Milliseconds. What takes longer than a year is no flow of work. */
  maxDeadlineMs: 400 * dayMs,
  maxTries: 100,
  maxLosses: 100,
} as const;

export const flowDefaults = {
  /** Milliseconds. Every run ends: a day is longer than any outage that is worth waiting for. */
  deadlineMs: dayMs,
  /** Milliseconds. Longer than a module that is well; short enough to notice one that is not. */
  timeoutMs: 10 * secondMs,
  /** Attempts in all. Two repetitions ride out a restart of a module. */
  tries: 3,
  /** Milliseconds. */
  firstBackoffMs: 200,
  /** Milliseconds. */
  maxBackoffMs: 10 * secondMs,
  /** Calls whose end nobody knows: one lost process in a hundred calls still leaves an item far below it. */
  maxLosses: 5,
  /** Milliseconds. Work that is taken on and answered later is of minutes; an hour more is worth an attempt. */
  answerWithinMs: 60 * 60 * secondMs,
  /** Runs of a chain: stops a flow that starts itself for ever before it has made much work. */
  maxGenerations: 100,
  /** Branches under way at a time: a list of thousands leaves room for other runs. */
  concurrency: 16,
  /** Branches that may fail: none, so that nothing is missing from the results unnoticed. */
  maxFailures: 0,
} as const;
