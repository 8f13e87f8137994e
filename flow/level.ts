/** Priority levels: 1 goes first, this one last. */
export const lastLevel = 9;

/** The level of an item that names none: the middle. */
export const defaultLevel = 5;

export function isLevel(level: number): boolean {
  return Number.isInteger(level) && level >= 1 && level <= lastLevel;
}
