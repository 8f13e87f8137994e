// Texts of a Mermaid drawing. Whatever an author wrote is shown as it is: nothing of it is read as Mermaid, HTML or Markdown.

/** Characters of one line: what is longer is in the flow's text. */
const maxCharacters = 60;

/** Lines of one label. */
const maxLines = 8;

/** A label of several lines, in quotes. */
export function label(lines: readonly string[]): string {
  const shown = lines.length > maxLines ? [...lines.slice(0, maxLines - 1), '…'] : lines;
  return `"${shown.map(escaped).join('<br/>')}"`;
}

function escaped(text: string): string {
  const signs = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  const cut = signs.slice(0, maxCharacters).join('') + (signs.length > maxCharacters ? '…' : '');
  // Mermaid's own notation of a character by its number; `%` because of directives, which are found everywhere.
  return cut.replaceAll(/["#&<>%`\\;{}|]|\p{Cc}/gu, (sign) => `#${sign.charCodeAt(0)};`);
}
