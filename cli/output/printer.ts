// Where commands print their results. What is no result goes to standard error.

/** What one command prints, in one of two forms. */
export interface Printer {
  readonly json: boolean;
  /** A line of the result. */
  line(text: string): void;
}

export function printerOf(json = false): Printer {
  return {
    json,
    line: (text) => console.log(text),
  };
}

/** JSON of a result; what is undefined is left out, 64-bit numbers are numbers. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
}
