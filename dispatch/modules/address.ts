import { isIPv4, isIPv6 } from 'node:net';

export interface Address {
  /** `IP:port`, an IPv6 address in brackets: as people read and gRPC shows it. */
  readonly text: string;
  /** For gRPC: with a scheme that allows no look-up of names. */
  readonly target: string;
}

export type AddressReading =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly problem: string };

const allowed = 'allowed is IP:port, as in 127.0.0.1:27101 or [::1]:27101';

/**
 * Reads the address of an endpoint. Names and other schemes are refused: an endpoint is one process, and a name that resolves
 * to several, or to another one tomorrow, would be blamed and counted as one.
 */
export function readAddress(text: string): AddressReading {
  const match = /^(?:\[(?<six>[^\]]*)\]|(?<four>[^:[\]]*)):(?<port>[0-9]{1,5})$/.exec(text);
  const { six, four, port } = match?.groups ?? {};
  const found = JSON.stringify(text.slice(0, 100));
  if (four === 'localhost' || text === 'localhost') {
    return refused(`${found} is a name, which may mean 127.0.0.1 or [::1]; write the one that the module listens on`);
  }
  if (six === undefined ? !isIPv4(four ?? '') : !isIPv6(six) || six.includes('%'))
    return refused(`${found} is no address; ${allowed}`);
  const number = Number(port);
  if (number < 1 || number > 65_535) return refused(`port ${port} of ${found} is not from 1 to 65535`);
  return {
    ok: true,
    address:
      six === undefined
        ? { text: `${four}:${number}`, target: `ipv4:${four}:${number}` }
        : { text: `[${six}]:${number}`, target: `ipv6:[${six}]:${number}` },
  };
}

function refused(problem: string): AddressReading {
  return { ok: false, problem };
}
