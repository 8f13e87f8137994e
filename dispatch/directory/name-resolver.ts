// The port to the DNS, and its adapter.

import { promises as dns, NODATA, NOTFOUND } from 'node:dns';

export interface ResolvedName {
  /** IPs; IPv4 and IPv6. */
  readonly ips: readonly string[];
  /** For how long the server vouches for them, in ms. */
  readonly ttlMs: number;
}

export type NameAnswer =
  | ({ readonly kind: 'resolved' } & ResolvedName)
  /** The server says that there are none. */
  | { readonly kind: 'none' }
  /** Nobody knows: no server answered, or it said that it could not. */
  | { readonly kind: 'failed'; readonly cause: unknown };

export interface NameResolver {
  /** Answers within seconds, and never throws. */
  resolve(host: string): Promise<NameAnswer>;
}

export interface DnsResolverOptions {
  /** `IP:port` of the servers; those of the machine by default. */
  readonly servers?: readonly string[];
  /** Milliseconds until a server that is silent is asked again; default 2,000. */
  readonly timeoutMs?: number;
}

/** How often a server is asked. */
const tries = 2;

/** Asks servers of the DNS. The machine's file of hosts isn't read: it vouches for no time. */
export function dnsResolver({ servers, timeoutMs = 2_000 }: DnsResolverOptions = {}): NameResolver {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries });
  if (servers) resolver.setServers(servers);
  return {
    async resolve(host) {
      const answers = await Promise.allSettled([
        resolver.resolve4(host, { ttl: true }),
        resolver.resolve6(host, { ttl: true }),
      ]);
      const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      // Half an answer would take away endpoints that are there.
      const failed = answers.find((answer) => answer.status === 'rejected' && !saysNone(answer.reason));
      if (failed?.status === 'rejected') return { kind: 'failed', cause: failed.reason };
      if (records.length === 0) return { kind: 'none' };
      const ttlMs = Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
      return { kind: 'resolved', ips: records.map(({ address }) => address), ttlMs };
    },
  };
}

function saysNone(reason: unknown): boolean {
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
  return code === NODATA || code === NOTFOUND;
}
