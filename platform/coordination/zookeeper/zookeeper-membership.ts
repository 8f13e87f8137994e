// Membership of a cluster: an ephemeral node for each member, `<root>/members/<role>/<name>`.
//
// Ownership: the nodes of what this process has joined as; its view of all members.
//
// Invariants:
//   V1  A view counts absences only while it is current: not while disconnected, nor within one session timeout after it was. Then
//       members may be missing only because they had the same trouble, and have not come back yet.
//   V2  `isSafe` only while the session is leased and every node of ours is known to exist in it. The lease ends a third of the
//       session timeout before the servers let go of the session (session.ts, Z2).

import type { Holder } from '../holder.ts';
import type { Member, Membership, Role } from '../membership.ts';
import { Absences } from './absences.ts';
import { Announcements } from './announcements.ts';
import { decodeRecord, encodeRecord, type Fields, isCount, isText } from './record.ts';
import type { ZooKeeperSession } from './session.ts';
import { type Decoded, WatchedFolder } from './watched-folder.ts';

const roles: readonly Role[] = ['spout', 'dispatch'];

export class ZooKeeperMembership implements Membership {
  readonly #session: ZooKeeperSession;
  readonly #own: Announcements;
  readonly #folders: ReadonlyMap<Role, WatchedFolder<Member>>;
  readonly #listeners = new Set<() => void>();
  readonly #stopListening: () => void;

  /** As last read, by the names of the nodes. */
  readonly #read = new Map<Role, ReadonlyMap<string, Member>>();
  /** Roles that were read since the connection was made. */
  readonly #current = new Set<Role>();
  readonly #absences = new Absences();
  #connectedMs = 0;
  #wasRead = false;
  #wasSafe = false;

  /** `onProblem`: for people, when something in ZooKeeper isn't as it should be. */
  constructor(session: ZooKeeperSession, onProblem: (problem: string) => void) {
    this.#session = session;
    this.#connectedMs = session.clock.monotonicMs();
    this.#stopListening = session.listen(({ kind }) => this.#heard(kind));
    this.#own = new Announcements(session, () => this.#safetyChanged(), onProblem);
    const folder = (role: Role) => {
      const onReading = (members: ReadonlyMap<string, Member>) => this.#readRole(role, members);
      return new WatchedFolder({ session, path: pathOf(role), decode: decodeMember, onReading, onProblem });
    };
    this.#folders = new Map(roles.map((role) => [role, folder(role)]));
  }

  /** Stops looking. What has joined stays until it leaves or the session ends. */
  close(): void {
    this.#stopListening();
    this.#own.close();
    for (const folder of this.#folders.values()) folder.close();
  }

  /** The view shows the members as they are, as far as ZooKeeper's answers do. */
  get isCurrent(): boolean {
    return this.#current.size === roles.length;
  }

  async join(member: Member): Promise<void> {
    const { role, processId, incarnation, address, unit, capacity } = member;
    await this.#own.announce({
      key: keyOf(member),
      folder: pathOf(role),
      shown: processId,
      data: encodeRecord({ role, processId, incarnation, address, unit, capacity }),
    });
    await this.#folders.get(role)?.refresh();
  }

  async leave(member: Member): Promise<void> {
    await this.#own.withdraw(keyOf(member));
    await this.#folders.get(member.role)?.refresh();
  }

  members(role: Role): readonly Member[] {
    // A member that joins again in another way is seen twice for a moment.
    const byHolder = new Map<string, Member>();
    for (const member of this.#read.get(role)?.values() ?? []) byHolder.set(holderKey(member), member);
    return [...byHolder.values()];
  }

  watch(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Of a holder that was never seen the view knows only that it isn't there since the view's first complete reading. */
  goneForMs(holder: Holder): number {
    return this.#absences.goneForMs(holderKey(holder), this.#lookedUntilMs());
  }

  isSafe(): boolean {
    return this.#session.isLeased && this.#own.isSeen;
  }

  #heard(kind: 'connected' | 'disconnected' | 'lease'): void {
    if (kind === 'connected') this.#connectedMs = this.#session.clock.monotonicMs();
    if (kind === 'disconnected') {
      this.#current.clear();
      this.#absences.pause(this.#lookedUntilMs());
    }
    this.#safetyChanged();
  }

  /** Up to when the view can be taken for current: a connection may be dead for a while before that is noticed. */
  #lookedUntilMs(): number {
    const { clock, answeredMs, timeoutMs } = this.#session;
    return Math.min(clock.monotonicMs(), answeredMs + timeoutMs / 3);
  }

  #readRole(role: Role, members: ReadonlyMap<string, Member>): void {
    const isChanged = !hasSameNames(this.#read.get(role), members);
    this.#read.set(role, members);
    if (this.#session.isConnected) this.#count(role);
    this.#own.compare(pathOf(role), members);
    if (isChanged) this.#tell();
  }

  #count(role: Role): void {
    const wasCurrent = this.isCurrent;
    this.#current.add(role);
    if (!this.isCurrent) return;
    const nowMs = this.#session.clock.monotonicMs();
    if (!wasCurrent) {
      const settledMs = this.#wasRead ? this.#connectedMs + this.#session.timeoutMs : nowMs;
      this.#absences.resume(Math.max(nowMs, settledMs), nowMs);
      this.#wasRead = true;
    }
    const all = roles.flatMap((each) => [...(this.#read.get(each)?.values() ?? [])]);
    this.#absences.see(new Set(all.map(holderKey)), nowMs);
  }

  #safetyChanged(): void {
    const isSafe = this.isSafe();
    if (isSafe === this.#wasSafe) return;
    this.#wasSafe = isSafe;
    this.#tell();
  }

  #tell(): void {
    // A copy: a listener may take itself away.
    for (const listener of [...this.#listeners]) listener();
  }
}

function pathOf(role: Role): string {
  return `/members/${role}`;
}

function decodeMember(data: Uint8Array): Decoded<Member> {
  return decodeRecord(data, ({ role, processId, incarnation, address, unit, capacity }: Fields) => {
    if (role !== 'spout' && role !== 'dispatch') return undefined;
    if (!isText(processId) || !isText(incarnation) || !isText(address) || !isText(unit)) return undefined;
    return isCount(capacity) ? { role, processId, incarnation, address, unit, capacity } : undefined;
  });
}

function hasSameNames(before: ReadonlyMap<string, Member> | undefined, after: ReadonlyMap<string, Member>): boolean {
  return (before?.size ?? 0) === after.size && [...after.keys()].every((name) => before?.has(name));
}

function holderKey({ processId, incarnation }: Holder): string {
  return JSON.stringify([processId, incarnation]);
}

function keyOf(member: Member): string {
  return JSON.stringify([member.role, member.processId, member.incarnation]);
}
