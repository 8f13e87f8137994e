import type { SettingsProblem } from '../platform/settings/settings.ts';

/** One line for each problem of a file, as editors and people find their way: `file:line:column: place: what`. */
export function settingsProblems(file: string, problems: readonly SettingsProblem[]): string {
  const lines = problems.map(({ line, column, path, message }) => {
    const at = line === 0 ? '' : `${file}:${line}:${column}: `;
    return `${at}${path === '' ? '' : `${path}: `}${message}`;
  });
  return lines.join('\n');
}
