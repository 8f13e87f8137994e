// Get, List and ListAlarms: what callers see of runs and alarms.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Run } from '../../flow/run.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Handlers } from '../../platform/rpc/handlers.ts';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { RunFilter, RunSchema, Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { RunQuery, Store } from '../../store/port.ts';
import type { Plans } from '../driver/ports.ts';
import { pinnedPlan } from './actable.ts';
import { fieldNameProblem, flowNameProblem } from './names.ts';
import { pageSize, pageToken, placeOf, readPage } from './pages.ts';
import { findRun, noSuchRun } from './run-name.ts';
import { fieldViews, newestFields, runView } from './run-view.ts';
import { stepViews } from './step-view.ts';

type RunInit = MessageInitShape<typeof RunSchema>;

/** Fields that a list shows: as many as a table has columns. */
const maxListedFields = 32;

/** Runs read from the store at a time: each may hold several MB of fields. */
const chunkRuns = 16;

/** Bytes of fields on one page, a single run's excepted: what every gRPC client takes by default is 4 MiB. */
const maxPageBytes = 2 * 1_048_576;

export interface InspectingPorts {
  readonly store: Store;
  readonly plans: Plans;
}

export function inspectHandlers(ports: InspectingPorts): Pick<Handlers<typeof Runs>, 'get' | 'list' | 'listAlarms'> {
  const { store } = ports;
  return {
    get: async ({ run: name, withFields, withExecutions }) => {
      const id = await findRun(store, name);
      const stored = await store.load(id);
      if (!stored) throw noSuchRun(id);
      return {
        run: runView(stored, {
          steps: stepViews(stored.run, await pinnedPlan(ports.plans, stored.run.control, id)),
          ...(withFields && { fields: fieldViews(stored.run) }),
          ...(withExecutions && { executions: [...(await store.executions(id))] }),
        }),
      };
    },
    list: async ({ filter, pageSize: asked, pageToken: token, fields }) => {
      const query = await queryOf(store, filter);
      checkFieldNames(fields);
      const size = pageSize(asked);
      const question = ['runs', query];
      const { runs, place } = await listPage(ports, query, fields, size, placeOf(question, token));
      return { runs, nextPageToken: pageToken(question, place) };
    },
    listAlarms: async ({ pageSize: asked, pageToken: token }) => {
      const question = ['alarms'];
      const place = placeOf(question, token);
      const { alarms, next } = await readPage(() => store.alarms(pageSize(asked), place));
      return { alarms: [...alarms], nextPageToken: pageToken(question, next) };
    },
  };
}

/** What a filter asks of the store. Throws INVALID_ARGUMENT, and NOT_FOUND for a parent. */
export async function queryOf(store: Store, filter: RunFilter | undefined): Promise<RunQuery> {
  const { business = '', flow = '', states = [], parent } = filter ?? {};
  for (const [field, name] of Object.entries({ business, flow })) {
    const problem = name === '' ? undefined : flowNameProblem(name);
    if (problem !== undefined) throw new RpcError(Code.INVALID_ARGUMENT, `filter.${field}: ${problem}`);
  }
  for (const [index, state] of states.entries()) {
    if (state !== State.UNSPECIFIED && State[state] !== undefined) continue;
    const allowed = Object.values(State).filter(
      (name) => typeof name === 'string' && name !== State[State.UNSPECIFIED],
    );
    throw new RpcError(
      Code.INVALID_ARGUMENT,
      `filter.states[${index}]: found ${state}, allowed are ${allowed.join(', ')}`,
    );
  }
  return {
    states: [...new Set(states)].sort((one, other) => one - other),
    ...(business && { business }),
    ...(flow && { flow }),
    ...(parent && { parent: await findRun(store, parent) }),
  };
}

function checkFieldNames(names: readonly string[]): void {
  if (names.length > maxListedFields) {
    throw new RpcError(
      Code.INVALID_ARGUMENT,
      `fields: found ${names.length} names, at most ${maxListedFields} are allowed`,
    );
  }
  for (const [index, name] of names.entries()) {
    const problem = fieldNameProblem(name);
    if (problem !== undefined) throw new RpcError(Code.INVALID_ARGUMENT, `fields[${index}]: ${problem}`);
  }
}

interface Chunk {
  readonly runs: RunInit[];
  readonly bytes: number;
  readonly next: string | undefined;
}

/** Up to `size` runs from `after` on, fewer when their fields fill the page, but one at least. */
async function listPage(
  ports: InspectingPorts,
  query: RunQuery,
  fields: readonly string[],
  size: number,
  after: string | undefined,
): Promise<{ runs: RunInit[]; place: string | undefined }> {
  const runs: RunInit[] = [];
  let bytes = 0;
  let place = after;
  do {
    const limit = Math.min(chunkRuns, size - runs.length);
    const chunk = await listChunk(ports, query, fields, limit, place, maxPageBytes - bytes);
    if (chunk.bytes > maxPageBytes - bytes && runs.length > 0) break;
    runs.push(...chunk.runs);
    bytes += chunk.bytes;
    place = chunk.next;
  } while (place !== undefined && runs.length < size && bytes < maxPageBytes);
  return { runs, place };
}

/**
 * The next runs whose fields fit `roomBytes`, one at least. When not all fit they are read again with a lower limit, since the
 * store's place belongs to the last run of what it read.
 */
async function listChunk(
  ports: InspectingPorts,
  query: RunQuery,
  fields: readonly string[],
  limit: number,
  place: string | undefined,
  roomBytes: number,
): Promise<Chunk> {
  const { store, plans } = ports;
  const { runs: stored, next } = await readPage(() => store.list(query, limit, place));
  const shown = await Promise.all(stored.map(({ run }) => fieldsOf(plans, run, fields)));
  let bytes = 0;
  const fitting = shown.findIndex((each) => {
    bytes += each.reduce((sum, { cell }) => sum + (cell?.value?.length ?? 0), 0);
    return bytes > roomBytes;
  });
  if (fitting === -1 || limit === 1) {
    return { runs: stored.map((each, index) => runView(each, { fields: shown[index] ?? [] })), bytes, next };
  }
  return listChunk(ports, query, fields, Math.max(1, fitting), place, roomBytes);
}

async function fieldsOf(plans: Plans, run: Run, names: readonly string[]) {
  return names.length === 0 ? [] : newestFields(run, await pinnedPlan(plans, run.control, run.id), names);
}
