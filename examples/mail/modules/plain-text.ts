import { Parser } from 'htmlparser2';

const lineEnds = new Set(['blockquote', 'br', 'div', 'h1', 'h2', 'h3', 'hr', 'li', 'p', 'table', 'td', 'tr']);
const silent = new Set(['script', 'style', 'title']);

/**
 * The words of an HTML body: text between the tags, with a new line where a block ends; scripts and styles say nothing.
 * Any string is accepted, however broken. Reading stops after `maxCharacters` of text.
 */
export function plainText(html: string, maxCharacters: number): string {
  let text = '';
  let silentDepth = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (silent.has(name)) silentDepth += 1;
      if (lineEnds.has(name)) text += '\n';
    },
    onclosetag(name) {
      if (silent.has(name)) silentDepth -= 1;
    },
    ontext(words) {
      if (silentDepth > 0) return;
      text += words;
      if (text.length > maxCharacters) parser.pause();
    },
  });
  parser.write(html);
  return text
    .slice(0, maxCharacters)
    .replace(/[ \t\r\u00a0]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .trim();
}
