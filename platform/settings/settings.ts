// Reads settings that a person wrote as YAML or JSON. Every problem names its place, what was found and what is allowed;
// all problems are found in one reading.

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLError,
} from 'yaml';

export interface SettingsProblem {
  /** Keys from the root: `modules.mail.parse.endpoints[1]`; empty for the document as a whole. */
  readonly path: string;
  /** What was found and what is allowed. */
  readonly message: string;
  /** From 1; 0 when unknown. */
  readonly line: number;
  readonly column: number;
}

export type SettingsReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly SettingsProblem[] };

export interface SettingsLimits {
  /** Bytes of the text in UTF-8; no default, since only the owner knows what is plausible. */
  readonly maxBytes: number;
}

/** Problems told of one text: more don't help who mends it. */
const maxProblems = 100;

/** Characters of a value that a problem quotes. */
const maxQuoted = 60;

/**
 * Reads a text with `read`, which walks from the root and makes a value. What `read` returns counts only when there is no
 * problem.
 */
export function readSettings<T>(text: string, limits: SettingsLimits, read: (root: Setting) => T): SettingsReading<T> {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.maxBytes) {
    return refused([
      { path: '', message: `${bytes} bytes, at most ${limits.maxBytes} are allowed`, line: 0, column: 0 },
    ]);
  }
  const lines = new LineCounter();
  // Repeated keys are found by Setting, which knows the path.
  const parsed = parseDocument<ParsedNode>(text, { lineCounter: lines, uniqueKeys: false });
  const syntax = syntaxProblems([...parsed.errors, ...parsed.warnings], lines);
  if (syntax.length > 0) return refused(syntax);
  const problems: SettingsProblem[] = [];
  const value = read(new Setting(parsed.contents, '', problems, lines));
  return problems.length > 0 ? refused(problems) : { ok: true, value };
}

function syntaxProblems(found: readonly YAMLError[], lines: LineCounter): SettingsProblem[] {
  // How the parser tells that it ran out of stack; what it says besides follows from that.
  const tooDeep = found.find(({ message }) => message.startsWith('Maximum call stack'));
  return (tooDeep ? [tooDeep] : found).map((error) => {
    const { line, col } = lines.linePos(error.pos[0]);
    const said = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';
    return { path: '', message: error === tooDeep ? 'is nested too deeply' : said, line, column: col };
  });
}

function refused(problems: readonly SettingsProblem[]): { ok: false; problems: readonly SettingsProblem[] } {
  return { ok: false, problems: problems.slice(0, maxProblems) };
}

/** One value of a document. Getters return undefined when the value is not what was asked for; the problem is noted. */
export class Setting {
  readonly path: string;
  readonly #node: Node | null;
  readonly #problems: SettingsProblem[];
  readonly #lines: LineCounter;

  constructor(node: Node | null, path: string, problems: SettingsProblem[], lines: LineCounter) {
    this.#node = node;
    this.path = path;
    this.#problems = problems;
    this.#lines = lines;
  }

  /** Notes a problem with this value. */
  problem(message: string): void {
    const offset = this.#node?.range?.[0];
    const { line, col } = offset === undefined ? { line: 0, col: 0 } : this.#lines.linePos(offset);
    if (this.#problems.length < maxProblems) this.#problems.push({ path: this.path, message, line, column: col });
  }

  /** The keys of a map with their values, in the order of the text. Refuses repeated keys. */
  entries(): ReadonlyArray<readonly [string, Setting]> | undefined {
    const node = this.#node;
    if (!isMap<Node, Node | null>(node)) return this.#not('a map');
    const entries = new Map<string, Setting>();
    for (const { key, value } of node.items) {
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.#at(key, this.path).problem(`key ${quoted(key)} is not a string`);
        continue;
      }
      const path = this.path === '' ? key.value : `${this.path}.${key.value}`;
      if (entries.has(key.value)) this.#at(key, path).problem('is there twice');
      // An absent value has no place of its own: the key's is told, and its type says "nothing".
      else entries.set(key.value, this.#at(value, path));
    }
    return [...entries];
  }

  /** A map in which only `keys` are allowed; an absent one is undefined. */
  section<K extends string>(keys: readonly K[]): Partial<Record<K, Setting>> | undefined {
    const entries = this.entries();
    if (!entries) return undefined;
    const known = new Set<string>(keys);
    const section: Partial<Record<K, Setting>> = {};
    for (const [key, setting] of entries) {
      if (known.has(key)) section[key as K] = setting;
      else setting.problem(`is unknown; allowed are ${keys.join(', ')}`);
    }
    return section;
  }

  list(limits: { readonly minItems: number; readonly maxItems: number }): readonly Setting[] | undefined {
    const node = this.#node;
    if (!isSeq<Node>(node)) return this.#not('a list');
    const { length } = node.items;
    if (length < limits.minItems || length > limits.maxItems) {
      this.problem(`${length} items, allowed are ${limits.minItems} to ${limits.maxItems}`);
      return undefined;
    }
    return node.items.map((item, index) => this.#at(item, `${this.path}[${index}]`));
  }

  /** It is one value, not a map or a list: for values that may be written in two ways. */
  get isScalar(): boolean {
    return isScalar(this.#node);
  }

  /** For a problem with another value: `path (line n)`. */
  get place(): string {
    const offset = this.#node?.range?.[0];
    return offset === undefined ? this.path : `${this.path} (line ${this.#lines.linePos(offset).line})`;
  }

  text(): string | undefined {
    const node = this.#node;
    return isScalar(node) && typeof node.value === 'string' ? node.value : this.#not('a string');
  }

  wholeNumber(limits: { readonly min: number; readonly max: number }): number | undefined {
    const node = this.#node;
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= limits.min && value <= limits.max)
      return value;
    return this.#not(`a whole number from ${limits.min} to ${limits.max}`);
  }

  boolean(): boolean | undefined {
    const node = this.#node;
    return isScalar(node) && typeof node.value === 'boolean' ? node.value : this.#not('true or false');
  }

  #at(node: Node | null, path: string): Setting {
    return new Setting(node, path, this.#problems, this.#lines);
  }

  #not(expected: string): undefined {
    this.problem(`${quoted(this.#node)} is not ${expected}`);
    return undefined;
  }
}

function quoted(node: Node | null): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  if (isAlias(node)) return `alias *${node.source} (aliases are not resolved; write the value here)`;
  if (!isScalar(node) || node.value === null) return 'nothing';
  const text = JSON.stringify(node.value, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
}
