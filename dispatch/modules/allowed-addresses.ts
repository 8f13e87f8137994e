// Which addresses modules may have. Names in the DNS and registrations are written by more people than may reach the network from
// here, so that what they name is checked against a list of the operator.
//
// Invariants:
//   A1  What is on the list of those that are never called isn't called, whatever else allows it.
//   A2  IPv4 in a form of IPv6 is refused, since it would pass the list of the other family.

import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Address } from './address.ts';

/**
 * Allowed when nothing is said: this machine and what is routed only inside a network of one's own. A module on the public internet is
 * no accident, so it has to be listed.
 */
export const defaultNetworks: readonly string[] = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1/128', 'fc00::/7'],
];

/** Entries of a list: whoever needs more means a network around them. */
export const maxNetworks = 100;

/** Never called (A1), with what they are. */
const never: readonly (readonly [network: string, what: string])[] = [
  ['0.0.0.0/8', 'no address of a machine'],
  // Also where clouds give their machines credentials.
  ['169.254.0.0/16', 'link-local'],
  ['100.100.100.200/32', 'a metadata service of a cloud'],
  ['224.0.0.0/3', 'multicast or reserved'],
  ['::/128', 'no address of a machine'],
  ['fd00:ec2::254/128', 'a metadata service of a cloud'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
  // A2: mapped, written, translated, tunnelled. The loopback ::1 is no IPv4 address.
  ['::ffff:0:0/96', 'IPv4 in IPv6'],
  ['64:ff9b::/96', 'IPv4 in IPv6'],
  ['64:ff9b:1::/48', 'IPv4 in IPv6'],
  ['2001::/32', 'IPv4 in IPv6'],
  ['2002::/16', 'IPv4 in IPv6'],
];
const neverLists = never.map(([text, what]) => {
  const network = parsed(text);
  return { list: blockList([network]), family: network.family, what };
});

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

export type NetworkReading =
  | { readonly ok: true; readonly network: string }
  | { readonly ok: false; readonly problem: string };

/** Reads `10.0.0.0/8`, `fd00::/8` or one IP address. */
export function readNetwork(text: string): NetworkReading {
  const found = JSON.stringify(text.slice(0, 100));
  const network = parse(text);
  if (!network) {
    return { ok: false, problem: `${found} is no network; allowed are IP/prefix and IP, as in 10.0.0.0/8 or fd00::/8` };
  }
  const what = whyNever(network.address, network.family);
  if (what !== undefined) return { ok: false, problem: `${found} is ${what}, which is never called` };
  return { ok: true, network: `${network.address}/${network.prefix}` };
}

/** Why an address is never called, also when it is listed as an endpoint; undefined when it may be. */
export function neverCalled({ text }: Pick<Address, 'text'>): string | undefined {
  const { host, family } = hostOf(text);
  const what = whyNever(host, family);
  return what === undefined ? undefined : `${text} is ${what}, which is never called`;
}

export class AllowedAddresses {
  readonly #networks: readonly string[];
  readonly #list: BlockList;
  readonly #list6: BlockList;

  /** `networks`: as `readNetwork` answers them. */
  constructor(networks: readonly string[] = defaultNetworks) {
    this.#networks = networks;
    const all = networks.map(parsed);
    // One for each family: a list of both takes an IPv4 address for its form in IPv6.
    this.#list = blockList(all.filter(({ family }) => family === 'ipv4'));
    this.#list6 = blockList(all.filter(({ family }) => family === 'ipv6'));
  }

  /** Why it may not be called: what was found and what is allowed; undefined when it may. */
  problem(address: Pick<Address, 'text'>): string | undefined {
    const why = neverCalled(address);
    if (why !== undefined) return why;
    const { host, family } = hostOf(address.text);
    if ((family === 'ipv4' ? this.#list : this.#list6).check(host, family)) return undefined;
    return `${address.text} is in none of the allowed networks; they are ${this.#networks.join(', ')}`;
  }
}

function whyNever(host: string, family: Network['family']): string | undefined {
  return neverLists.find((each) => each.family === family && each.list.check(host, family))?.what;
}

/** Of `IP:port`, an IPv6 address in brackets. */
function hostOf(text: string): { host: string; family: Network['family'] } {
  const host = text.slice(0, text.lastIndexOf(':'));
  return host.startsWith('[') ? { host: host.slice(1, -1), family: 'ipv6' } : { host, family: 'ipv4' };
}

function parse(text: string): Network | undefined {
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) && !address.includes('%') ? 'ipv6' : undefined;
  if (!family || more.length > 0) return undefined;
  const longest = family === 'ipv4' ? 32 : 128;
  if (prefix !== undefined && (!/^[0-9]{1,3}$/.test(prefix) || Number(prefix) > longest)) return undefined;
  return { address, prefix: prefix === undefined ? longest : Number(prefix), family };
}

function parsed(text: string): Network {
  const network = parse(text);
  if (!network) throw new Error(`${text} is no network`);
  return network;
}

function blockList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family);
  return list;
}
