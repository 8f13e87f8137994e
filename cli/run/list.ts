// `weir run list`

import { type Run, Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { readPages } from '../output/pages.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { type Cell, table } from '../output/table.ts';
import { printedTime, shownBytes } from '../output/text.ts';
import { type FilterOptions, filterOf } from './filter.ts';
import { fieldJson, runJson, runText, stateText } from './print-run.ts';

export interface ListOptions extends FilterOptions {
  readonly fields?: readonly string[];
  readonly limit: number;
  readonly all?: boolean;
}

/** Characters of a value in a table. */
const maxShownCharacters = 40;

export async function listRuns(options: ListOptions, address: string, printer: Printer): Promise<void> {
  const filter = filterOf(options);
  const fields = [...(options.fields ?? [])];
  await askEngine(Runs, address, async (client) => {
    const pages = readPages(options.all ? Infinity : options.limit, async (pageSize, pageToken) => {
      const page = await client.list({ filter, pageSize, pageToken, fields }, callOptions);
      return { rows: page.runs, next: page.nextPageToken };
    });
    // A table is aligned over a page: the first one has what fits a screen.
    for await (const runs of pages) {
      if (printer.json) for (const run of runs) printer.line(toJson({ ...runJson(run), ...fieldsObject(run, fields) }));
      else printer.line(pageText(runs, fields));
    }
  });
}

/** A field that nobody wrote is left out. */
function fieldsObject(run: Run, fields: readonly string[]) {
  if (fields.length === 0) return {};
  return { fields: Object.fromEntries(run.fields.map((field) => [field.name, fieldJson(field)])) };
}

function pageText(runs: readonly Run[], fields: readonly string[]): string {
  const head = ['RUN', 'STATE', 'ACTIVITY', 'SINCE', ...fields.map((name) => name.toUpperCase())];
  return table(
    head,
    runs.map((run) => runRow(run, fields)),
  );
}

function runRow(run: Run, fields: readonly string[]): Cell[] {
  const values = fields.map((name) => {
    const cell = run.fields.find((field) => field.name === name)?.cell;
    return cell?.reference?.location ?? shownBytes(cell?.value ?? new Uint8Array(), maxShownCharacters);
  });
  return [runText(run), stateText(run), run.activity, printedTime(run.since) ?? '', ...values];
}
