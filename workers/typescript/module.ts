/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A value that is kept elsewhere. Whoever reads it checks size and hash. */
export interface FieldReference {
  /** SHA-256 of the content. */
  readonly hash: Uint8Array;
  /** Bytes. */
  readonly size: number;
  /** A URI that reader and writer agree on. */
  readonly location: string;
}

interface ValueOfKind {
  bytes: Uint8Array;
  /** UTF-8 text. */
  string: string;
  /** A decimal number within ±(2^53 − 1). */
  int: number;
  /** A finite number, written as in JSON. */
  double: number;
  /** `true` or `false`. */
  bool: boolean;
  json: JsonValue;
  reference: FieldReference;
}

export type FieldKind = keyof ValueOfKind;

/** A type of a field; with `?` the field may be absent. */
export type FieldSpec = FieldKind | `${FieldKind}?`;
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;

type KindOf<S extends FieldSpec> = S extends `${infer Kind extends FieldKind}?`
  ? Kind
  : S extends FieldKind
    ? S
    : never;
type OptionalNames<S extends FieldSpecs> = { [Name in keyof S]: S[Name] extends `${string}?` ? Name : never }[keyof S];
type Flat<T> = { [K in keyof T]: T[K] };

/** The values that go with field specifications: `{ text: 'string', limit: 'int?' }` gives `{ text: string; limit?: number }`. */
export type Values<S extends FieldSpecs> = Flat<
  { [Name in Exclude<keyof S, OptionalNames<S>>]: ValueOfKind[KindOf<S[Name]>] } & {
    [Name in OptionalNames<S>]?: ValueOfKind[KindOf<S[Name]>] | undefined;
  }
>;

/** What the engine says about a call. Absent where the caller doesn't say it. */
export interface Call {
  /** The item's key; empty when the caller names none. */
  readonly rowkey: Uint8Array;
  /** The same on every retry of this step: deduplicate by it what must not happen twice. */
  readonly callKey: string | undefined;
  /** 1 for the first try. */
  readonly attempt: number | undefined;
  /** Of two calls with one call key, the higher epoch is the newer. */
  readonly epoch: bigint | undefined;
  readonly business: string | undefined;
  readonly flow: string | undefined;
  readonly step: string | undefined;
  /** W3C trace context. */
  readonly traceparent: string | undefined;
  /** Milliseconds the engine waits for the answer, counted from sending. */
  readonly timeoutMs: number | undefined;
}

export interface Request<Input extends FieldSpecs> {
  readonly fields: Values<Input>;
  /** Aborted when nobody waits for the answer any more: deadline, cancellation, forced stop. Pass it on to what you call. */
  readonly signal: AbortSignal;
  readonly call: Call;
}

/** Output fields together with a text for people. Made by `withMessage`. */
export class Answer<Fields> {
  readonly fields: Fields;
  readonly message: string;

  constructor(fields: Fields, message: string) {
    this.fields = fields;
    this.message = message;
  }
}

/** Returns fields from `process` with a text for people, which the engine records with the call. */
export function withMessage<Fields>(fields: Fields, message: string): Answer<Fields> {
  return new Answer(fields, message);
}

export interface ModuleDefinition<Input extends FieldSpecs, Output extends FieldSpecs> {
  /** The name that flows call, `text.upper`: words of a-z, 0-9, `_` and `-` joined by dots, up to 128 characters. */
  readonly name: string;
  /** Fields to receive, by name. Fields that are not named here are ignored. */
  readonly input: Input;
  /** Fields to return, by name. */
  readonly output: Output;
  /**
   * Processes one item. What it returns becomes SUCC with these fields. A ModuleError it throws becomes its return code;
   * anything else it throws is a bug: SVR_INNER_ERR, and the error goes to `onError`.
   */
  readonly process: (
    request: Request<Input>,
  ) => Values<Output> | Answer<Values<Output>> | Promise<Values<Output> | Answer<Values<Output>>>;
}

/** As flows write it. */
const moduleName = /^(?=.{1,128}$)[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;
const fieldName = /^[a-z][a-z0-9_]{0,63}$/;
const fieldSpec = /^(bytes|string|int|double|bool|json|reference)\??$/;

/** Throws a TypeError that names the place, what was found and what is allowed. */
export function checkDefinition({ name, input, output }: ModuleDefinition<FieldSpecs, FieldSpecs>): void {
  if (!moduleName.test(name)) throw new TypeError(`name is ${JSON.stringify(name)}, allowed is ${moduleName.source}`);
  for (const [side, specs] of Object.entries({ input, output })) {
    for (const [field, spec] of Object.entries(specs)) {
      const place = `${name}: ${side}.${field}`;
      if (!fieldName.test(field)) throw new TypeError(`${place}: a field is named ${fieldName.source}`);
      if (!fieldSpec.test(spec))
        throw new TypeError(`${place} is ${JSON.stringify(spec)}, allowed is ${fieldSpec.source}`);
    }
  }
}
