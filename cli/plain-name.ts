// Names that stand in configuration, in paths and in the services of a cluster alike.

const form = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const plainNameRule = 'up to 64 letters, digits, dots, - and _';

export function isPlainName(text: string): boolean {
  return form.test(text);
}
