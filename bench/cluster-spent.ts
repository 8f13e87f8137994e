// What processes have spent so far, by role: processor time and bytes through their sockets and files (Linux).

import { readFileSync } from 'node:fs';
import { cpuSeconds } from './measured-process.ts';

export interface Spent {
  /** Seconds, user and system, of all processes of the role. */
  readonly cpu: number;
  /** Bytes by read and write calls, both ways, of the network and of files. What a program sends by other calls is not in it. */
  readonly transferred: number;
}

export type Pids<Role extends string> = Readonly<Record<Role, readonly number[]>>;
export type SpentByRole<Role extends string> = Readonly<Record<Role, Spent>>;

export function spentSoFar<Role extends string>(pids: Pids<Role>): SpentByRole<Role> {
  return mapRoles(pids, (all) => ({
    cpu: all.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    transferred: all.reduce((sum, pid) => sum + transferredBytes(pid), 0),
  }));
}

export function spentSince<Role extends string>(
  before: SpentByRole<Role>,
  after: SpentByRole<Role>,
): SpentByRole<Role> {
  return mapRoles(after, ({ cpu, transferred }, role) => ({
    cpu: cpu - before[role].cpu,
    transferred: transferred - before[role].transferred,
  }));
}

function mapRoles<Role extends string, From, To>(
  all: Readonly<Record<Role, From>>,
  map: (from: From, role: Role) => To,
): Readonly<Record<Role, To>> {
  const roles = Object.keys(all) as Role[];
  return Object.fromEntries(roles.map((role) => [role, map(all[role], role)])) as Record<Role, To>;
}

function transferredBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return bytes('rchar') + bytes('wchar');
}
