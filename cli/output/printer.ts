// Where commands print: results on standard output, all else on standard error.

/** What one command prints, in one of two forms. */
export interface Printer {
  readonly json: boolean;
  /** A line of the result. */
  line(text: string): void;
  /** A line for people, beside the result. */
  note(text: string): void;
}

export function printerOf(json = false): Printer {
  return {
    json,
    line: (text) => console.log(text),
    note: (text) => console.error(text),
  };
}

/** JSON of a result; what is undefined is left out, 64-bit numbers are numbers. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
}
