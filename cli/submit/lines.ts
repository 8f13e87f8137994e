// Lines of a stream, with bounded memory.

/** One line, without its end. */
export type Line =
  | { readonly kind: 'text'; readonly number: number; readonly text: string }
  | { readonly kind: 'too long'; readonly number: number; readonly bytes: number }
  | { readonly kind: 'not utf-8'; readonly number: number };

/** Bytes of one line of items: 4 MB of values as base64, or escaped, and names. */
export const maxLineBytes = 8 * 1_048_576;

const newline = 0x0a;

/**
 * The lines of a stream of bytes, those of one chunk together, so that whoever sends them on waits for no chunk that may come
 * late. Empty lines are counted and left out. Of a line beyond `maxLineBytes` only its length is kept.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<Line[], void> {
  const line = new OpenLine(maxLineBytes);
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      line.add(chunk.subarray(start, end));
      lines.push(...line.finish());
      start = end + 1;
    }
    line.add(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  const last = line.finish();
  if (last.length > 0) yield last;
}

/** The line whose end has not come yet. */
class OpenLine {
  #number = 1;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  readonly #maxBytes: number;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  /** The line, or nothing when it is empty; the next one begins. */
  finish(): Line[] {
    const number = this.#number++;
    const bytes = this.#bytes;
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > this.#maxBytes) return [{ kind: 'too long', number, bytes }];
    const text = this.#decode(parts);
    if (text === undefined) return [{ kind: 'not utf-8', number }];
    return text.trim() === '' ? [] : [{ kind: 'text', number, text }];
  }

  #decode(parts: readonly Uint8Array[]): string | undefined {
    try {
      return this.#utf8.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    } catch {
      return undefined;
    }
  }
}
