// Which hosts may be called by address: those that the operator lists, and no others. Flows are written by people who may not know, or
// must not reach, what else is in the network of the engine.
//
// Invariants:
//   A1  A host that isn't listed is never connected to.
//   A2  A listed name is called at a public address only, unless the address that it resolves to is listed too: who holds a name
//       can let it point anywhere.

import { BlockList, isIP, isIPv4 } from 'node:net';

/** Entries of a list: what is longer is a policy, and belongs into a proxy. */
const maxHosts = 100;

const allowed = 'allowed are host and host:port, as in hooks.example.com, 10.0.0.7:8080 or [fd00::7]:8080';
const standardPorts: ReadonlySet<number> = new Set([80, 443]);

/** What is no address of the public internet; apart, since a list of both takes an IPv4 address for its form in IPv6. */
const internal4 = blockList('ipv4', [
  ...(['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'] as const),
  ...(['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'] as const),
]);
const internal6 = blockList('ipv6', [
  // Unspecified, loopback, and IPv4 in IPv6: written, mapped, translated, tunnelled.
  ...(['::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'] as const),
  // Unique local, link local, site local, multicast.
  ...(['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'] as const),
]);

export type CallbackHostsReading =
  | { readonly ok: true; readonly hosts: CallbackHosts }
  | { readonly ok: false; readonly problem: string };

export class CallbackHosts {
  /** `host:port`; a host without a port stands for the ports of http and https. */
  readonly #listed: ReadonlySet<string>;

  constructor(listed: Iterable<string> = []) {
    this.#listed = new Set(listed);
  }

  get isEmpty(): boolean {
    return this.#listed.size === 0;
  }

  /** A1. `host` as a URL has it, an IPv6 address in brackets. */
  mayCall(host: string, port: number): boolean {
    return this.#listed.has(`${host}:${port}`) || (standardPorts.has(port) && this.#listed.has(host));
  }

  /** A2. `address` is one that `host` resolved to. */
  mayConnect(address: string, port: number): boolean {
    if (isIPv4(address)) return !internal4.check(address, 'ipv4') || this.mayCall(address, port);
    return !internal6.check(address, 'ipv6') || this.mayCall(hostOf(`[${address}]`), port);
  }
}

/** Reads a list of hosts, separated by commas. */
export function readCallbackHosts(text: string): CallbackHostsReading {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > maxHosts) return refused(`${entries.length} hosts, at most ${maxHosts} are allowed`);
  const listed: string[] = [];
  for (const entry of entries) {
    const match =
      /^(?<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::(?<port>[0-9]{1,5}))?$/.exec(entry);
    const { host = '', port } = match?.groups ?? {};
    if (!match || (host.startsWith('[') && isIP(host.slice(1, -1)) !== 6)) {
      return refused(`${JSON.stringify(entry.slice(0, 100))} is no host; ${allowed}`);
    }
    if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
      return refused(`port ${port} of ${entry} is not from 1 to 65535`);
    }
    listed.push(port === undefined ? hostOf(host) : `${hostOf(host)}:${Number(port)}`);
  }
  return { ok: true, hosts: new CallbackHosts(listed) };
}

/** As a URL has it: in lower case, an IPv6 address in its shortest form. */
function hostOf(host: string): string {
  return new URL(`http://${host}`).hostname;
}

function refused(problem: string): CallbackHostsReading {
  return { ok: false, problem };
}

function blockList(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
