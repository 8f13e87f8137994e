// How the services command, or the start of a test's own server, ends when it can't do what it was asked.

export const exitCodes = {
  ok: 0,
  /** A service could not be installed, started or stopped. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** `status`: at least one of the services asked for does not answer. */
  notAnswering: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Says to people what could not be done and what would help. Anything else that is thrown is a bug. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
