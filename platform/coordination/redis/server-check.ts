// Whether a Redis server may keep locks, from what it says of itself (INFO).

export type ServerCheck =
  | { readonly kind: 'fit' }
  /** It won't do before somebody mends it. */
  | { readonly kind: 'refused'; readonly problem: string }
  /** It will do in a moment. */
  | { readonly kind: 'not yet'; readonly problem: string };

/** The oldest version that still gets corrections from somebody. */
const leastVersion = [6, 2] as const;

/** What INFO doesn't tell is taken to be in order: managed services hide parts of it. */
export function checkServer(info: string): ServerCheck {
  const values = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0) values.set(line.slice(0, colon), line.slice(colon + 1));
  }
  const version = values.get('redis_version');
  if (version !== undefined && !isNewEnough(version)) {
    return refused(`redis_version is ${version}; allowed is ${leastVersion.join('.')} or later`);
  }
  const policy = values.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    return refused(`maxmemory-policy is ${policy}, which drops locks that are held; allowed is noeviction`);
  }
  if (values.get('cluster_enabled') === '1') {
    return refused('cluster-enabled is yes; allowed is no: a batch of locks has keys of all slots');
  }
  if (values.get('loading') === '1') return { kind: 'not yet', problem: 'it loads its data' };
  if (values.get('role') === 'slave') return { kind: 'not yet', problem: 'it is a replica, which takes no writes' };
  return { kind: 'fit' };
}

function refused(problem: string): ServerCheck {
  return { kind: 'refused', problem };
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = leastVersion;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
