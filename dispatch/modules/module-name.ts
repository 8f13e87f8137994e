// Names of modules, as steps write them in `call`.

export const maxNameLength = 128;

/** What a name is made of, for messages. */
export const nameRule = `words of a-z, 0-9, - and _ that begin with a letter, joined by dots, up to ${maxNameLength} characters`;

const pattern = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/;

export function isModuleName(text: string): boolean {
  return text.length <= maxNameLength && pattern.test(text);
}

/** A name, or a name and `.*` for all whose names begin with it. */
export function isNamePattern(text: string): boolean {
  return isModuleName(text.endsWith('.*') ? text.slice(0, -2) : text);
}

export function matchesName(namePattern: string, name: string): boolean {
  return namePattern.endsWith('.*') ? name.startsWith(namePattern.slice(0, -1)) : name === namePattern;
}
