import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { Control } from '../../../flow/run.ts';
import { runId } from '../../../flow/run-id.ts';
import { InboxEventSchema, Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { Random } from './random.ts';
import { Replica } from './replica.ts';
import { VirtualTime } from './time.ts';

const itemKey = Buffer.from('a');
const run = runId({ business: 'b', flow: 'f', itemKey, generation: 1 });
const control: Control = {
  ...{ business: 'b', itemKey, flow: 'f', generation: 1, flowVersion: 1, level: 5, order: 1 },
  ...{ creationHash: new Uint8Array(), createdMs: 0, deadlineMs: 1, inputBytes: 0, superseded: false },
  status: {
    ...{ state: State.OPEN, reason: Reason.UNSPECIFIED, detail: '', outcomeNumber: 0, outcome: State.UNSPECIFIED },
    ...{ sinceMs: 0, evidence: [] },
  },
};
const changes = { control, steps: new Map(), fields: new Map(), executions: [], consumed: [], alarms: [] };

describe('a replica', () => {
  it('shows a state of the last five seconds, and never an older one than before', async () => {
    const time = new VirtualTime();
    const replica = new Replica(time, new Random(1, 'replica'), new MemoryStore(1));
    const event = (second: number) => create(InboxEventSchema, { id: `event-${second}`, arrivedMs: 0n });
    replica.note((store) => store.create({ run, writeId: 'create', changes, entries: { ready: true } }));
    const behind: number[] = [];
    let before = 0;
    for (let second = 1; second <= 60; second++) {
      await time.run(second * 1_000);
      replica.note((store) => store.post(run, event(second)));
      const shown = (await replica.read((store) => store.inbox(run)))?.events.length ?? 0;
      expect(shown).toBeGreaterThanOrEqual(before);
      behind.push(second - shown);
      before = shown;
    }
    expect(Math.max(...behind)).toBe(5);
    expect(Math.min(...behind)).toBeLessThan(2);
  });
});
