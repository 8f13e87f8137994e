// What the audit finds: a sound history first, then one fault at a time.

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runId } from '../../../flow/run-id.ts';
import { ReturnCode } from '../../../proto/gen/weir/module/v1/module_pb.js';
import { Ending, Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Store } from '../../../store/port.ts';
import { audit, type Findings } from './audit.ts';
import { arrange } from './calls.ts';
import { business, expectedFields, flow, item, outputsOf, seedOf } from './chain.ts';
import { Ledger, type LedgerLine, readLedgers } from './ledger.ts';

/** Two items: number 0 succeeds, number 1 is the poison item. */
const items = 2;
const endpoint = '127.0.0.1:27303';
const plain = item(0, items);
const poison = item(1, items);

interface History {
  readonly runs: Array<{ id: string; state: State; reason: Reason; outcomeNumber: number; evidence: string[] }>;
  fields: Map<string, string>;
  lines: LedgerLine[];
  acknowledged: Set<number>;
  executions: Array<{ step: string; round: number; ending: Ending; endpoint: string }>;
}

function line(step: string, event: LedgerLine['event'], outputs?: Record<string, string>): LedgerLine {
  const callKey = `1/${business}/${flow}/${plain.key}/${step}/1`;
  const about = { event, callKey, key: plain.key, step, attempt: 1, epoch: 1, atMs: 1_000, pid: 1 };
  return outputs ? { ...about, code: ReturnCode.SUCC, outputs } : about;
}

function soundHistory(): History {
  const fields = new Map(expectedFields(seedOf(plain)));
  const outputs = new Map<string, Record<string, string>>([['exit/0', {}]]);
  for (const [path, value] of fields) {
    const [step = '', name = ''] = path.split('/');
    outputs.set(step, { ...outputs.get(step), [name]: value });
  }
  const lines = [...outputs].flatMap(([step, each]) => [line(step, 'received'), line(step, 'answered', each)]);
  const idOf = (key: string) => runId({ business, flow, itemKey: Buffer.from(key), generation: 1 });
  const evidence = [`key ${poison.key}`, 'step left: 6 losses', `endpoint ${endpoint}`];
  return {
    runs: [
      { id: idOf(plain.key), state: State.SUCCEEDED, reason: Reason.UNSPECIFIED, outcomeNumber: 1, evidence: [] },
      { id: idOf(poison.key), state: State.PARKED, reason: Reason.POISON, outcomeNumber: 0, evidence },
    ],
    ...{ fields, lines, acknowledged: new Set([0, 1]) },
    executions: [{ step: 'left', round: 1, ending: Ending.SUCCEEDED, endpoint }],
  };
}

/** What the audit finds of a history with a fault planted in it. */
async function findings(plant: (history: History) => void): Promise<Findings> {
  const history = soundHistory();
  plant(history);
  const { runs, fields, lines, acknowledged, executions } = history;
  const isPlain = (id: string) => id.endsWith(plain.key);
  const fieldCells = [...fields].map(([path, value]) => [path, { bytes: Buffer.from(value) }] as const);
  const stored = runs.map(({ id, ...status }) => ({
    run: {
      id,
      control: { status: { ...status, detail: '', sinceMs: 2_000 } },
      steps: new Map([['left', { losses: 0 }]]),
      fields: new Map(isPlain(id) ? fieldCells : []),
    },
  }));
  const store = {
    list: async () => ({ runs: stored }),
    inbox: async () => [],
    executions: async (id: string) =>
      isPlain(id) ? executions : [{ step: 'left', round: 1, ending: Ending.LOST, endpoint }],
  } as unknown as Store;
  return audit({ items, acknowledged, calls: arrange(lines), store, poisonedEndpoints: [endpoint] });
}

const faults: Array<[string, (history: History) => void, RegExp, Partial<Findings>?]> = [
  ['a run that is gone', ({ runs }) => void runs.shift(), /was acknowledged and isn't there/, { lost: 1 }],
  [
    'a run that is stuck',
    ({ runs }) => void Object.assign(runs[0]!, { state: State.OPEN }),
    /its fate is plain, it is OPEN/,
    { lost: 1 },
  ],
  [
    'a run that nobody has sent',
    ({ runs }) => void runs.push({ ...runs[0]!, id: '2/x' }),
    /2\/x is there and was never ack/,
  ],
  [
    'a second outcome',
    ({ runs }) => void Object.assign(runs[0]!, { outcomeNumber: 2 }),
    /outcome number 2/,
    { doubleTerminal: 1 },
  ],
  [
    'another outcome',
    ({ runs }) => void Object.assign(runs[0]!, { state: State.FAILED, reason: Reason.EXHAUSTED }),
    /it is FAILED EXHAUSTED/,
  ],
  [
    'a bystander that is parked',
    ({ runs }) => void Object.assign(runs[0]!, { state: State.PARKED, reason: Reason.POISON }),
    /it is PARKED POISON/,
    { parked: 2 },
  ],
  [
    'a wrong output',
    ({ fields }) => void fields.set('left/left', 'x'),
    /left\/left is x, expected is/,
    { wrongResults: 1 },
  ],
  [
    'an output that is missing',
    ({ fields }) => void fields.delete('close/close'),
    /succeeded without close\/close/,
    { wrongResults: 1 },
  ],
  [
    'an output that nobody answered',
    (history) =>
      void (history.lines = history.lines.filter(({ step, event }) => step !== 'left' || event !== 'answered')),
    /step left has outputs that no module answered/,
    { wrongResults: 1 },
  ],
  [
    'an exit call that was not made',
    (history) => void (history.lines = history.lines.filter(({ step }) => step !== 'exit/0')),
    /ended without its exit call/,
  ],
  [
    'a call key that changed',
    ({ lines }) => void lines.push({ ...line('left', 'received'), callKey: '1/chaos/chain/x/left/2' }),
    /was called as 1\/chaos\/chain\/x\/left\/2/,
  ],
  [
    'too many calls',
    ({ lines }) => void lines.push(...Array.from({ length: 10 }, () => line('left', 'received'))),
    /step left was called 11 times, allowed are 5 \+ 5 \+ 0 declined/,
  ],
  [
    'two successes of one step',
    ({ executions }) => void executions.push({ ...executions[0]! }),
    /step left, round 1 succeeded 2 times/,
  ],
  [
    'a round that nobody asked for',
    ({ executions }) => void executions.push({ ...executions[0]!, round: 2 }),
    /round 2 is recorded/,
  ],
  ['parking without evidence', ({ runs }) => void runs[1]!.evidence.pop(), /is parked without evidence/],
];

describe('the audit', () => {
  it('finds nothing wrong with a sound history', async () => {
    const found = await findings(() => {});
    expect(found).toMatchObject({ violations: [], lost: 0, doubleTerminal: 0, wrongResults: 0, parked: 1 });
    expect(Object.fromEntries(found.states)).toEqual({ SUCCEEDED: 1, 'PARKED POISON': 1 });
  });

  it.each(faults)('finds %s', async (_, plant, message, counts = {}) => {
    const found = await findings(plant);
    expect(found.violations.join('\n')).toMatch(message);
    expect(found).toMatchObject(counts);
  });

  it('allows as many calls more as were declined', async () => {
    const declined = { ...line('left', 'answered'), code: ReturnCode.SVR_OVER_LOAD };
    const calls = Array.from({ length: 10 }, () => line('left', 'received'));
    expect((await findings(({ lines }) => void lines.push(...calls, declined))).violations).toEqual([]);
  });
});

describe('the ledger', () => {
  it('gives back what was written, but for a line that was torn', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-ledger-'));
    const first = new Ledger(folder, 'a');
    first.write(line('left', 'received'));
    first.close();
    appendFileSync(join(folder, 'a.jsonl'), '\n{"event":"recei');
    const second = new Ledger(folder, 'a');
    const answer = line('left', 'answered', outputsOf('left', { seed: '1 plain' }));
    second.write(answer);
    second.close();
    expect([...readLedgers(folder)]).toEqual([line('left', 'received'), answer]);
    rmSync(folder, { recursive: true });
  });
});
