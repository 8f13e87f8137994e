// What the commands of `weir run` share.

export interface Common {
  readonly address: string;
  readonly json?: boolean;
}

export const runHelp = 'BUSINESS/FLOW/KEY, and #GENERATION unless the newest is meant';

/** Of commands that ask a run to do something. */
export const askedHelp = '\nThe answer says that the request is stored; the run follows it a moment later.';
