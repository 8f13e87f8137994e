import { describe, expect, it } from 'vitest';
import { StreamChannel } from './stream-channel.ts';

/** What comes in, given by the test. */
function incoming<T>() {
  const waiting: Array<T | Error | undefined> = [];
  let wake: (() => void) | undefined;
  return {
    give(message: T | Error | undefined): void {
      waiting.push(message);
      wake?.();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
      for (;;) {
        while (waiting.length > 0) {
          const message = waiting.shift();
          if (message === undefined) return;
          if (message instanceof Error) throw message;
          yield message;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a channel over a stream', () => {
  it('hands on what comes in, and gives out what is sent, in order', async () => {
    const stream = incoming<string>();
    const channel = new StreamChannel<number, string>(stream);
    const heard: string[] = [];
    channel.listen((message) => heard.push(message));
    for (const message of ['a', 'b']) stream.give(message);
    for (const message of [1, 2, 3]) channel.send(message);
    await turns();
    expect(heard).toEqual(['a', 'b']);
    channel.close();
    const sent: number[] = [];
    for await (const message of channel.outgoing()) sent.push(message);
    expect(sent).toEqual([1, 2, 3]);
  });

  it.each([
    ['ends', undefined],
    ['fails', new Error('broken')],
  ])('tells once that the stream %s', async (_, last) => {
    const stream = incoming<string>();
    const channel = new StreamChannel<number, string>(stream);
    let ends = 0;
    const heard: string[] = [];
    channel.onClose(() => ends++);
    channel.listen((message) => heard.push(message));
    stream.give('a');
    stream.give(last);
    await turns();
    channel.end();
    expect({ heard, ends }).toEqual({ heard: ['a'], ends: 1 });
    channel.send(1);
    for await (const _ of channel.outgoing()) expect.unreachable('nothing is sent after the end');
  });

  it("doesn't tell whoever closed it", async () => {
    const stream = incoming<string>();
    const channel = new StreamChannel<number, string>(stream);
    let ends = 0;
    channel.onClose(() => ends++);
    channel.listen(() => {});
    channel.close();
    stream.give(undefined);
    await turns();
    expect(ends).toBe(0);
  });

  it('ends when the peer reads nothing', () => {
    const channel = new StreamChannel<number, string>(incoming<string>(), 2);
    let ends = 0;
    channel.onClose(() => ends++);
    for (const message of [1, 2]) channel.send(message);
    expect(ends).toBe(0);
    channel.send(3);
    expect(ends).toBe(1);
  });
});
