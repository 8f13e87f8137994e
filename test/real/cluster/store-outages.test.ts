// HBase goes away under a running cluster: nothing is acknowledged that isn't stored, and all of it ends when HBase is back.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Instance } from '../../../scripts/services/instance.ts';
import { makeCluster } from './cluster.ts';
import { timed } from './conditions.ts';
import { Weather, weatherMaxRuns } from './outage.ts';
import { ownHBase } from './own-service.ts';

const opened = new AsyncDisposableStack();
let weather: Weather;
let hbase: Instance;

beforeAll(async () => {
  const atEnd = opened.defer.bind(opened);
  hbase = await ownHBase(atEnd);
  weather = new Weather(await makeCluster({ services: { hbase: hbase.address }, maxRuns: weatherMaxRuns }, atEnd));
  await weather.start();
});
afterAll(() => opened.disposeAsync());

/** In ms: calls that are out are waited for 5 s, and 8 s for the rest. */
const endsWithinMs = 30_000;
const shows = 'a call of the store failed';

describe('a cluster', () => {
  it('survives: HBase frozen', async () => {
    const { recoveredMs } = await weather.survive({
      ...{ name: 'HBase frozen', shows, stops: true },
      begin: () => hbase.freeze(),
      end: () => hbase.thaw(),
    });
    console.log(`HBase frozen: all items had ended ${recoveredMs} ms after it was over`);
  });

  it('survives: HBase killed', async () => {
    const { recoveredMs } = await weather.survive({
      ...{ name: 'HBase killed', shows, stops: true },
      begin: () => hbase.kill(),
      end: () => hbase.restart(),
    });
    console.log(`HBase killed: all items had ended ${recoveredMs} ms after it answered again`);
  });

  it('ends when it is told to while HBase is away', async () => {
    await weather.holdSome();
    hbase.freeze();
    try {
      const { answer, tookMs } = await timed('all processes end', weather.stop(), endsWithinMs);
      console.log(`HBase frozen: told to stop, all had ended after ${tookMs} ms`);
      expect(answer).toEqual([0, 0, 0, 0]);
    } finally {
      hbase.thaw();
    }
    // What was held then is offered again when its holder has been gone for long enough.
    await weather.start();
    await weather.allEnd();
    expect(await weather.stop()).toEqual([0, 0, 0, 0]);
  });
});
