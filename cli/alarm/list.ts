// `weir alarm list`

import { type Alarm, AlarmKind } from '../../proto/gen/weir/run/v1/run_pb.js';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { readPages } from '../output/pages.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { table } from '../output/table.ts';
import { enumName, printedBytes, printedMs } from '../output/text.ts';

export interface AlarmListOptions {
  readonly limit: number;
  readonly all?: boolean;
}

export async function listAlarms({ limit, all }: AlarmListOptions, address: string, printer: Printer): Promise<void> {
  await askEngine(Runs, address, async (client) => {
    const pages = readPages(all ? Infinity : limit, async (pageSize, pageToken) => {
      const { alarms, nextPageToken } = await client.listAlarms({ pageSize, pageToken }, callOptions);
      return { rows: alarms, next: nextPageToken };
    });
    for await (const alarms of pages) {
      if (printer.json) for (const alarm of alarms) printer.line(toJson(alarmObject(alarm)));
      else printer.line(table(['LAST', 'COUNT', 'KIND', 'MESSAGE'], alarms.map(alarmRow)));
    }
  });
}

function alarmObject({ key, kind, business, flow, itemKey, step, module, message, firstMs, lastMs, count }: Alarm) {
  return {
    key,
    kind: enumName(AlarmKind, kind),
    ...{ business, flow },
    itemKey: printedBytes(itemKey),
    ...{ step, module, message, count },
    firstAt: printedMs(firstMs),
    lastAt: printedMs(lastMs),
  };
}

function alarmRow({ kind, message, lastMs, count }: Alarm) {
  return [printedMs(lastMs) ?? '', Number(count), enumName(AlarmKind, kind), message.replaceAll(/\s+/g, ' ')];
}
