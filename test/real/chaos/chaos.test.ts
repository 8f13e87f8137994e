// The whole of Weir killed again and again while it works through the mails, then left to finish.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { RunId } from '../../../flow/run.ts';
import { runParts } from '../../../flow/run-id.ts';
import { connect } from '../../../platform/rpc/client.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { Example } from './example.ts';
import { allRuns, callsOf, runningRuns, withStore } from './stored-runs.ts';

const mails = 6_046;
const kills = 10;
const engineAddress = '127.0.0.1:27100';
/** Of the flow mail-intake: what each step may take. */
const triesOf = (step: string) => (step === 'score' ? 5 : 3);
const maxLosses = 5;

it(`loses and repeats nothing when it is killed ${kills} times`, { timeout: 900_000 }, async () => {
  const data = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  let interrupted = new Map<RunId, number>();
  let killed = 0;
  let killedWhileCalling = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const example = new Example(data);
    await goneOn(example, interrupted);
    // A random moment: the runs of the last kill have gone on, so that no step is lost by bad luck alone.
    await pause(200 + Math.random() * 1_500);
    if (!example.running) break;
    await example.kill();
    killed++;
    await portIsFree();
    interrupted = existsSync(join(data, 'runs.db')) ? await runningRuns(data) : new Map();
    if (interrupted.size > 0) killedWhileCalling++;
  }
  const last = new Example(data);
  const { code, result, messages } = await last.end();
  expect(code, messages).toBe(0);
  expect(JSON.parse(result)).toMatchObject({ items: mails });
  // Otherwise the test has shown nothing.
  expect(killed).toBe(kills);
  expect(killedWhileCalling).toBeGreaterThanOrEqual(kills / 2);

  let terminal = 0;
  let losses = 0;
  await withStore(data, async (store) => {
    for await (const { run } of allRuns(store)) {
      const { status, generation } = run.control;
      expect([State.SUCCEEDED, State.FAILED]).toContain(status.state);
      expect({ id: run.id, outcomes: status.outcomeNumber, generation }).toEqual({
        id: run.id,
        outcomes: 1,
        generation: 1,
      });
      terminal++;
      for (const step of run.steps.values()) losses += step.losses;
      for (const { step, round, calls, declined } of callsOf(await store.executions(run.id))) {
        expect(calls - declined, `${run.id} ${step}, round ${round}`).toBeLessThanOrEqual(triesOf(step) + maxLosses);
      }
    }
  });
  expect(terminal).toBe(mails);
  expect(losses).toBeGreaterThan(0);
  rmSync(data, { recursive: true, force: true });
});

/** Until the runs that were interrupted have been claimed again and have committed; or the example has ended. */
async function goneOn(example: Example, interrupted: ReadonlyMap<RunId, number>): Promise<void> {
  const client = connect(Runs, engineAddress);
  const waiting = new Map(interrupted);
  let answered = interrupted.size > 0;
  while (example.running && (waiting.size > 0 || !answered)) {
    await pause(100);
    try {
      for (const [id, version] of [...waiting].slice(0, 200)) {
        const { business, flow, itemKey, generation } = runParts(id);
        const { run } = await client.get({ run: { business, flow, key: itemKey, generation } }, { timeoutMs: 2_000 });
        // The claim is one version, the commit the next.
        if (run && Number(run.version) >= version + 2) waiting.delete(id);
        else break;
      }
      if (!answered) answered = (await client.summarize({}, { timeoutMs: 2_000 })).states.length > 0;
    } catch {
      // Not there yet: the loop asks again until the example ends.
    }
  }
  client.close();
}

/** The engine kills itself when its parent is gone; the next one needs its port and its data folder. */
async function portIsFree(): Promise<void> {
  const client = connect(Runs, engineAddress);
  for (;;) {
    try {
      await client.listAlarms({ pageSize: 1 }, { timeoutMs: 500 });
    } catch {
      client.close();
      return;
    }
    await pause(50);
  }
}
