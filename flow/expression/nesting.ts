// Looks over the text of an expression before the parser does, which recurses on brackets.

/** How deep brackets stand inside one another, texts and comments left out. An unclosed text ends the count. */
export function bracketNesting(source: string): number {
  let deepest = 0;
  let depth = 0;
  let index = 0;
  while (index < source.length) {
    const character = source.charAt(index);
    if (character === '"' || character === "'") {
      index = endOfText(source, index, isRaw(source, index));
      continue;
    }
    if (character === '/' && source.charAt(index + 1) === '/') {
      index = endOfLine(source, index);
      continue;
    }
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth -= 1;
    index += 1;
  }
  return deepest;
}

function endOfLine(source: string, start: number): number {
  const end = source.indexOf('\n', start);
  return end < 0 ? source.length : end;
}

/** Whether the quote at `index` opens a raw text, in which a backslash is only a backslash: `r'…'`, `br'…'`. */
function isRaw(source: string, index: number): boolean {
  const prefix = /[a-z0-9_]*$/i.exec(source.slice(Math.max(0, index - 3), index))?.[0].toLowerCase();
  return prefix === 'r' || prefix === 'br' || prefix === 'rb';
}

/** Index behind the text whose first quote stands at `start`. */
function endOfText(source: string, start: number, raw: boolean): number {
  const quote = source.charAt(start);
  const closing = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  let index = start + closing.length;
  while (index < source.length) {
    if (!raw && source.charAt(index) === '\\') index += 2;
    else if (source.startsWith(closing, index)) return index + closing.length;
    else index += 1;
  }
  return source.length;
}
