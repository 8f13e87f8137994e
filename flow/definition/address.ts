// Addresses that are called in place of a module: http or https. Parsed here, since a core has no URL of a platform's.

/** Whether what is called stands for an address: no module's name has these signs. Whether it is a good one: `addressProblem`. */
export function isAddress(target: string): boolean {
  return target.includes('://');
}

const parts = /^https?:\/\/(?<authority>[^/?#\\]+)(?:[/?][^#]*)?(?<fragment>#.*)?$/i;
const hostAndPort = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?<port>[0-9]{1,5}))?$/i;
/** What else there is must be percent-encoded: nobody on the way then reads another address out of it. */
const plainSigns = /^[!#-;=?-Z[\]_a-z~]*$/;

/** What is wrong with an address, or undefined. Says nothing of what stands before an `@`: that is a secret. */
export function addressProblem(address: string, maxCharacters: number): string | undefined {
  if (address.length > maxCharacters) {
    return `found ${address.length} characters; an address has at most ${maxCharacters}`;
  }
  const { authority, fragment } = parts.exec(address)?.groups ?? {};
  if (authority === undefined) return 'an address begins with http:// or https:// and a host';
  if (authority.includes('@')) return 'an address has no user and password: flows are read by many';
  if (fragment !== undefined) return 'an address has no fragment (#…): it is never sent';
  const { port } = hostAndPort.exec(authority)?.groups ?? {};
  if (!hostAndPort.test(authority) || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    return 'the host of an address is a name or a number, with a port of 1 to 65535';
  }
  if (!plainSigns.test(address)) return 'an address is ASCII without blanks; write other signs as %…';
  return undefined;
}
