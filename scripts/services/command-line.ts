import { type ServiceName, serviceNames } from './catalogue.ts';
import { exitCodes, ServiceFailure } from './failure.ts';

export const verbs = ['up', 'down', 'status', 'install'] as const;

export interface CommandLine {
  readonly verb: (typeof verbs)[number];
  /** Without repetitions; all three when none is named. */
  readonly names: readonly ServiceName[];
}

export const usage = `Usage: npm run services -- ${verbs.join('|')} [${serviceNames.join(' ')}]

  up       install what is missing, start, wait until each answers; what answers already is left alone
  down     stop; the data stays in .services/<name>
  status   say how each is; exit code ${exitCodes.notAnswering} when one does not answer
  install  only install

Without names: all of them.`;

/** Reads the arguments. Throws ServiceFailure, which names what was found and what is allowed. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const [verb, ...names] = args;
  if (verb === undefined) throw new ServiceFailure(`what to do is missing\n\n${usage}`, exitCodes.usage);
  if (!isOneOf(verbs, verb)) {
    throw new ServiceFailure(`there is no "${verb}"; allowed are ${verbs.join(', ')}`, exitCodes.usage);
  }
  for (const name of names) {
    if (isOneOf(serviceNames, name)) continue;
    throw new ServiceFailure(`there is no service "${name}"; allowed are ${serviceNames.join(', ')}`, exitCodes.usage);
  }
  return { verb, names: names.length === 0 ? serviceNames : serviceNames.filter((name) => names.includes(name)) };
}

function isOneOf<T extends string>(allowed: readonly T[], value: string): value is T {
  return (allowed as readonly string[]).includes(value);
}
