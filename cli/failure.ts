// How a command ends when it can't do what it was asked.

export const exitCodes = {
  ok: 0,
  /** The engine can't be reached, has no such run, or refused. */
  failed: 1,
  /** Flags, files or configuration are wrong. */
  usage: 2,
  /** It could be asked, and two things that were compared differ. */
  different: 3,
  /** Ctrl-C; what shells expect of it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with a message for people. Anything else that a command throws is a bug. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Wrong flags, files or configuration. */
export function usageFailure(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, cause);
}
