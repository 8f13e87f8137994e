import { isIP } from 'node:net';
import { type Address, type AddressReading, readAddress } from './address.ts';

/** A name of the DNS with the port that each of its addresses listens on. */
export interface DnsName {
  readonly host: string;
  readonly port: number;
}

export type DnsNameReading =
  | { readonly ok: true; readonly name: DnsName }
  | { readonly ok: false; readonly problem: string };

const maxNameLength = 253;
const host = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.?$/i;

/** Reads `name:port`. */
export function readDnsName(text: string): DnsNameReading {
  const colon = text.lastIndexOf(':');
  const name = text.slice(0, Math.max(0, colon));
  const port = text.slice(colon + 1);
  const found = JSON.stringify(text.slice(0, 100));
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) {
    return { ok: false, problem: `${found} is an address; list it under endpoints` };
  }
  if (colon < 1 || name.length > maxNameLength || !host.test(name) || !/^[0-9]{1,5}$/.test(port)) {
    return { ok: false, problem: `${found} is no name with a port; allowed is as in score.mail.internal:27103` };
  }
  if (Number(port) < 1 || Number(port) > 65_535) {
    return { ok: false, problem: `port ${port} of ${found} is not from 1 to 65535` };
  }
  return { ok: true, name: { host: name, port: Number(port) } };
}

/** An address that the name resolved to, as an endpoint has it. */
export function resolvedAddress({ port }: DnsName, ip: string): AddressReading {
  return readAddress(addressText(ip, port));
}

/** `IP:port`, an IPv6 address in brackets. */
export function addressText(ip: string, port: number): Address['text'] {
  return isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;
}
