// A dispatch without room over a store in memory: what is created waits its turn, so that a test says what becomes of it.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { noChanges } from '../../flow/change.ts';
import { compileFlow } from '../../flow/compile.ts';
import { parseFlow } from '../../flow/definition/definition.ts';
import type { ChildName, StartEffect } from '../../flow/effect.ts';
import type { Plan } from '../../flow/plan.ts';
import type { RunId, Status } from '../../flow/run.ts';
import { runId } from '../../flow/run-id.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { InProcessRunLocks } from '../../platform/coordination/in-process-run-locks.ts';
import { InboxEventSchema } from '../../proto/gen/weir/run/v1/run_pb.js';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import { dispatchDefaults } from '../settings.ts';
import { Holding } from './holding.ts';
import type { DispatchPorts } from './ports.ts';
import { RunCreation } from './run-creation.ts';
import { SpoutLinks } from './spout-links.ts';

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const parentId = runId({ business: 'test', flow: 'parent', itemKey: bytes('item'), generation: 1 });

const childText = `
flow: child
business: other
deadline: 10m
fields: { grade: { type: int, default: '7' } }
steps: { only: { call: m, send: [text], receive: [upper, grade] } }
`;

function planOf(text: string, version = 1): Plan {
  const parsed = parseFlow(text);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return compileFlow(parsed.flow, version);
}

/** The child of `parentId` by step `sub`. */
export const childName: ChildName = { flow: 'child', version: 0, itemKey: bytes('1/test/parent/item/sub/1') };

export function startEffect(more: Partial<StartEffect> = {}): StartEffect {
  return {
    kind: 'start',
    step: 'sub',
    round: 1,
    name: childName,
    level: 3,
    deadlineMs: Date.UTC(2026, 0, 1, 0, 5),
    rowKey: bytes('item'),
    fields: [['text', { bytes: bytes('hello') }]],
    parent: { run: parentId, step: 'sub', round: 1, waits: true, receive: ['upper', 'grade', 'absent'], chain: 1 },
    ...more,
  };
}

export class Relatives {
  readonly clock = new ManualClock();
  readonly store = new MemoryStore();
  readonly errors: string[] = [];
  readonly child: RunId = runId({ business: 'other', flow: 'child', itemKey: childName.itemKey, generation: 1 });
  readonly holding: Holding;
  readonly creation: RunCreation;
  #writes = 0;

  constructor() {
    const plan = planOf(childText);
    const { clock, store, errors } = this;
    const ports = {
      ...{ clock, store, random: () => 0.5, ids: { next: () => `id-${++this.#writes}` } },
      locks: new InProcessRunLocks(clock),
      plans: {
        released: async (flow: string) => (flow === 'child' ? plan : undefined),
        pinned: async (flow: string, version: number) => (flow === 'child' && version === 1 ? plan : undefined),
      },
      onError: (error: unknown, doing: string) => errors.push(`${doing}: ${(error as Error).message}`),
    } as unknown as DispatchPorts;
    const self = { role: 'dispatch', processId: 'p', incarnation: 'i', address: '', unit: '', capacity: 512 } as const;
    this.holding = new Holding(self, ports, { ...dispatchDefaults, maxRuns: 0 });
    this.creation = new RunCreation(this.holding, new SpoutLinks(this.holding, clock, ports.onError));
  }

  /** Brings the child to another state, by a commit that consumes what is named. */
  async become(status: Partial<Status>, fields: Record<string, string> = {}, consumed: string[] = []): Promise<void> {
    const head = await this.store.peek(this.child);
    if (!head) throw new Error('there is no child');
    const { control } = head;
    const changes = noChanges();
    changes.control = { ...control, status: { ...control.status, ...status } };
    for (const [key, value] of Object.entries(fields)) changes.fields.set(key, { bytes: bytes(value) });
    changes.consumed.push(...consumed);
    const write = { run: this.child, writeId: `write-${++this.#writes}`, expected: head.fence, changes };
    await this.store.commit({ ...write, release: { ready: false } });
  }

  async post(id: string, kind: MessageInitShape<typeof InboxEventSchema>['kind']): Promise<void> {
    await this.store.post(this.child, create(InboxEventSchema, { id, arrivedMs: 1n, ...(kind && { kind }) }));
  }

  /** What waits in the child's inbox: kind and the outcome that it names. */
  async inbox(): Promise<string[]> {
    const view = await this.store.inbox(this.child);
    return (view?.events ?? []).map(({ kind }) =>
      kind.case === 'retry' ? `retry ${kind.value.outcomeNumber}` : String(kind.case),
    );
  }
}
