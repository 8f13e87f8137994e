// What an endpoint says of itself when it registers: checked against the settings, field by field.

import type { RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Registration } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { readAddress } from '../modules/address.ts';
import { AllowedAddresses } from '../modules/allowed-addresses.ts';
import type { DirectorySetting, ModuleSetting } from '../modules/configuration.ts';
import { addressText } from '../modules/dns-name.ts';
import { defaultConcurrency, maxConcurrency, maxWeight } from '../modules/endpoint-setting.ts';
import { isModuleName, matchesName, maxNameLength, nameRule } from '../modules/module-name.ts';

/** Characters of a version, a unit, a label's name. */
const maxTextLength = 64;
const maxLabels = 16;
const maxLabelLength = 256;
/** Names that a message lists. */
const maxShown = 20;

const printable = /^[^\p{Cc}]*$/u;

/** What a registration says, without the id that it is given. */
export type CheckedRegistration = Omit<RegisteredEndpoint, 'registration'>;

export class RegistrationRules {
  readonly #setting: DirectorySetting;
  readonly #modules: ReadonlyMap<string, ModuleSetting>;
  readonly #addresses: AllowedAddresses;

  constructor(setting: DirectorySetting) {
    this.#setting = setting;
    this.#modules = new Map(setting.modules.map((module) => [module.name, module]));
    this.#addresses = new AllowedAddresses(setting.networks);
  }

  /** Whether endpoints of a module may register. */
  mayRegister(module: string): boolean {
    return (
      this.#modules.get(module)?.register ?? this.#setting.register.some((pattern) => matchesName(pattern, module))
    );
  }

  /**
   * Checks a registration. `peer`: where it comes from, `IP:port` as gRPC tells it. Throws an RpcError that names the field, what was found
   * and what is allowed.
   */
  check(registration: Registration, peer: string): CheckedRegistration {
    const { module, weight, version, unit, labels, concurrency } = registration;
    this.#checkModule(module);
    const address = this.#addressOf(registration.address, peer);
    checkNumber('weight', weight, maxWeight);
    checkNumber('concurrency', concurrency, maxConcurrency);
    checkText('version', version, maxTextLength);
    checkText('unit', unit, maxTextLength);
    checkLabels(labels);
    return {
      ...{ module, address, version, unit, labels: { ...labels } },
      weight: weight === 0 ? 1 : weight,
      concurrency: concurrency === 0 ? (this.#modules.get(module)?.concurrency ?? defaultConcurrency) : concurrency,
    };
  }

  #checkModule(module: string): void {
    if (!isModuleName(module)) throw invalid('module', quote(module), nameRule);
    if (this.mayRegister(module)) return;
    const names = this.#setting.modules.filter(({ register }) => register === true).map(({ name }) => name);
    const all = [...names, ...this.#setting.register];
    const allowed =
      all.length === 0
        ? 'none is'
        : `those are ${all.slice(0, maxShown).join(', ')}${all.length > maxShown ? ', …' : ''}`;
    const what = `module: ${quote(module)} is not among those that may register here; ${allowed}`;
    throw new RpcError(Code.PERMISSION_DENIED, what);
  }

  #addressOf(text: string, peer: string): string {
    const reading = readAddress(text.startsWith(':') ? `${peerHost(peer)}${text}` : text);
    if (!reading.ok) {
      throw new RpcError(
        Code.INVALID_ARGUMENT,
        `address: ${reading.problem}, or :port for where the request comes from`,
      );
    }
    const problem = this.#addresses.problem(reading.address);
    if (problem !== undefined) throw new RpcError(Code.PERMISSION_DENIED, `address: ${problem}`);
    return reading.address.text;
  }
}

/** The IP of a peer, in brackets when it is one of IPv6; one of IPv4 also where both families share a socket. */
export function peerHost(peer: string): string {
  const host = peer.slice(0, Math.max(0, peer.lastIndexOf(':'))).replace(/^\[|\]$/g, '');
  return addressText(host.replace(/^::ffff:(?=\d+\.)/i, ''), 0).slice(0, -':0'.length);
}

function checkNumber(field: string, value: number, max: number): void {
  // 0 is what an absent number looks like.
  if (value > max) throw invalid(field, String(value), `1 to ${max}`);
}

function checkText(field: string, text: string, maxLength: number): void {
  if (text.length > maxLength || !printable.test(text)) {
    throw invalid(field, quote(text), `up to ${maxLength} printable characters`);
  }
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > maxLabels) throw invalid('labels', String(entries.length), `up to ${maxLabels}`);
  for (const [name, value] of entries) {
    if (name === '') throw invalid('labels', 'a label without a name', 'a name for each');
    checkText('labels', name, maxTextLength);
    checkText(`labels.${name}`, value, maxLabelLength);
  }
}

function invalid(field: string, found: string, allowed: string): RpcError {
  return new RpcError(Code.INVALID_ARGUMENT, `${field}: found ${found}, allowed is ${allowed}`);
}

function quote(text: string): string {
  const shown = JSON.stringify(text.slice(0, maxNameLength));
  return text.length <= maxNameLength ? shown : `${shown}… (${text.length} characters)`;
}
