export type DataFolderProblem =
  /** There is a file where the folder should be. */
  | 'not-a-folder'
  | 'not-writable'
  /** Another process owns it. */
  | 'in-use'
  /** A newer Weir has written it. */
  | 'newer'
  /** A file in it isn't Weir's, or is damaged. */
  | 'foreign';

/** A data folder that can't be used, for a person to mend: the message names the folder and what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
  readonly problem: DataFolderProblem;

  constructor(problem: DataFolderProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}
