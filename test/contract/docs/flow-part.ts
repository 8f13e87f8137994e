// Parts of flows in the documentation: whatever a whole flow needs besides goes behind the part, so that lines stay as they are.

/** The keys at the left margin of a YAML block. */
export function keysOf(text: string): string[] {
  return [...text.matchAll(/^([a-z_]+):/gm)].map((match) => match[1] ?? '');
}

export function wholeFlow(text: string): string {
  const keys = keysOf(text);
  if (keys[0] === 'flow') return text;
  const steps = keys.includes('steps') ? '' : 'steps: { work: { call: some.module } }\n';
  return `${text}flow: part\nbusiness: documentation\n${steps}`;
}
