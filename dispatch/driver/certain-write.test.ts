import { describe, expect, it } from 'vitest';
import { runId } from '../../flow/run-id.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import type { RunHead, Store } from '../../store/port.ts';
import { makeCertain, makeFencedCertain } from './certain-write.ts';

type Sent = 'done' | 'fenced' | 'unknown';

const run = runId({ business: 'b', flow: 'f', itemKey: Uint8Array.of(1), generation: 1 });
const head = (writeId: string, version: number) => ({ writeId, fence: { epoch: 1, version } }) as RunHead;

/** Answers of the store in order: to each sending, and to each reading back. */
async function outcome(sent: Sent[], read: Array<RunHead | undefined | Error>) {
  const clock = new ManualClock();
  let sendings = 0;
  const peek = async () => {
    const answer = read.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const result = makeCertain({ peek } as unknown as Store, clock, {
    run,
    writeId: 'mine',
    send: async () => ({ kind: sent[sendings++] ?? 'unknown' }),
    isOpen: (found) => found?.fence.version === 1,
  });
  await clock.advance(600_000);
  return { certain: await result, sendings };
}

describe('a doubtful write', () => {
  it('that was answered is not read back', async () => {
    expect(await outcome(['done'], [])).toEqual({ certain: 'done', sendings: 1 });
    expect(await outcome(['fenced'], [])).toEqual({ certain: 'fenced', sendings: 1 });
  });

  it('is done when its id stands there', async () => {
    expect(await outcome(['unknown'], [head('mine', 2)])).toEqual({ certain: 'done', sendings: 1 });
  });

  it('is sent again while the fence is unchanged', async () => {
    expect(await outcome(['unknown', 'done'], [head('before', 1)])).toEqual({ certain: 'done', sendings: 2 });
  });

  it('is done when its repetition was refused because the first one was applied late', async () => {
    expect(await outcome(['unknown', 'fenced'], [head('before', 1), head('mine', 2)])).toEqual({
      certain: 'done',
      sendings: 2,
    });
  });

  it('is fenced when somebody else moved the fence', async () => {
    expect(await outcome(['unknown'], [head('other', 2)])).toEqual({ certain: 'fenced', sendings: 1 });
  });

  it('is not judged by a read that is older than what it expects', async () => {
    const clock = new ManualClock();
    const reads = [undefined, head('older', 6), head('before', 7), head('mine', 8)];
    const sent: string[] = [];
    const write = { run, writeId: 'mine', expected: { epoch: 1, version: 7 } };
    const store = { peek: async () => reads.shift() } as unknown as Store;
    const certain = makeFencedCertain(store, clock, write, async () => {
      sent.push('mine');
      return { kind: sent.length === 1 ? 'unknown' : 'fenced' };
    });
    await clock.advance(60_000);
    expect(await certain).toBe('done');
    expect(sent).toHaveLength(4);
  });

  it('waits for a store that does not answer reads', async () => {
    expect(await outcome(['unknown'], [new Error('down'), head('mine', 2)])).toEqual({ certain: 'done', sendings: 1 });
  });

  it('is abandoned at last', async () => {
    const { certain, sendings } = await outcome(
      [],
      Array.from({ length: 50 }, () => head('before', 1)),
    );
    expect(certain).toBe('abandoned');
    expect(sendings).toBeLessThanOrEqual(12);
  });
});
