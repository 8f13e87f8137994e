import { describe, expect, it } from 'vitest';
import { ManualClock } from '../platform/clock/manual-clock.ts';
import { ScanLoop } from './scan-loop.ts';

function setUp(pass: (clock: ManualClock) => Promise<number>, restPerWork = 0) {
  const clock = new ManualClock();
  const passesMs: number[] = [];
  const errors: unknown[] = [];
  const loop = new ScanLoop(clock, {
    doing: 'testing',
    pass: () => {
      passesMs.push(clock.monotonicMs());
      return pass(clock);
    },
    restPerWork,
    afterErrorMs: 1_000,
    onError: (error) => errors.push(error),
  });
  return { clock, loop, passesMs, errors };
}

describe('ScanLoop', () => {
  it('pauses between passes as they ask', async () => {
    const { clock, loop, passesMs } = setUp(async () => 100);
    loop.start();
    await clock.advance(250);
    expect(passesMs).toEqual([0, 100, 200]);
  });

  it('makes a pass at once when woken, and takes its pause from there', async () => {
    const { clock, loop, passesMs } = setUp(async () => 100);
    loop.start();
    await clock.advance(30);
    loop.wake();
    loop.wake();
    await clock.advance(100);
    expect(passesMs).toEqual([0, 30, 130]);
  });

  it('makes one more pass when woken during one, and never two at a time', async () => {
    let finish: (pauseMs: number) => void = () => {};
    const { clock, loop, passesMs } = setUp(() => new Promise((resolve) => (finish = resolve)));
    loop.start();
    await clock.advance(0);
    loop.wake();
    await clock.advance(10);
    expect(passesMs).toEqual([0]);
    finish(100);
    await clock.advance(1);
    expect(passesMs).toEqual([0, 10]);
  });

  it('rests in proportion to its work', async () => {
    const { clock, loop, passesMs } = setUp((clock) => new Promise((resolve) => clock.after(50, () => resolve(10))), 4);
    loop.start();
    await clock.advance(260);
    expect(passesMs).toEqual([0, 250]);
  });

  it('goes on after a pass that throws', async () => {
    const { clock, loop, passesMs, errors } = setUp(async () => {
      throw new Error('a bug');
    });
    loop.start();
    await clock.advance(1_000);
    expect(passesMs).toEqual([0, 1_000]);
    expect(errors).toHaveLength(2);
  });

  it('stops when the pass under way is over', async () => {
    let finish: (pauseMs: number) => void = () => {};
    const { clock, loop, passesMs } = setUp(() => new Promise((resolve) => (finish = resolve)));
    loop.start();
    await clock.advance(0);
    let stopped = false;
    const stopping = loop.stop().then(() => (stopped = true));
    await clock.advance(10);
    expect(stopped).toBe(false);
    finish(0);
    await stopping;
    loop.wake();
    await clock.advance(1_000);
    expect(passesMs).toEqual([0]);
  });

  it('stops before its first pass, and without ever having been started', async () => {
    const { clock, loop, passesMs } = setUp(async () => 0);
    await loop.stop();
    const other = setUp(async () => 0);
    other.loop.start();
    await other.loop.stop();
    await other.clock.advance(100);
    await clock.advance(100);
    expect([...passesMs, ...other.passesMs]).toEqual([]);
  });
});
