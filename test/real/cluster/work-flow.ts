// The flow of these tests: one step, which calls the module.

export const business = 'test';
export const flowName = 'work';
export const moduleName = 'test.work';

/** Versions differ by their deadline. */
export function flowText(name = flowName, deadline = '10m'): string {
  const steps = `{ work: { call: ${moduleName}, send: [text], receive: [upper], timeout: 60s } }`;
  return `{ flow: ${name}, business: ${business}, deadline: ${deadline}, steps: ${steps} }`;
}
