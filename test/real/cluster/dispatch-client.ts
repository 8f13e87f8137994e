// What a producer and an author of flows ask of a dispatch.

import { type Client, connect } from '../../../platform/rpc/client.ts';
import { Code, RpcError } from '../../../platform/rpc/error.ts';
import { Flows } from '../../../proto/gen/weir/flow/v1/flows_pb.js';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Refusal, Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { becomes } from './conditions.ts';
import { business, flowName } from './work-flow.ts';

/** In ms: shorter than a store that is away is waited for, so that items are sent again. */
const submitTimeoutMs = 5_000;
/** In ms. */
const timeoutMs = 20_000;
const pageSize = 1_000;

export class DispatchClient {
  readonly #runs: Client<typeof Runs>;
  readonly #flows: Client<typeof Flows>;

  constructor(address: string) {
    const options = { maxReconnectMs: 200 };
    this.#runs = connect(Runs, address, options);
    this.#flows = connect(Flows, address, options);
  }

  close(): void {
    this.#runs.close();
    this.#flows.close();
  }

  /** Of each key `accepted`, or why not: `UNAVAILABLE: …`. A call that fails as a whole says it of all of them. */
  async submit(keys: readonly string[], flow = flowName): Promise<string[]> {
    const items = keys.map((key) => {
      return { business, flow, key: Buffer.from(key), fields: [{ key: Buffer.from('text'), value: Buffer.from(key) }] };
    });
    try {
      const { results } = await this.#runs.submit({ items }, { timeoutMs: submitTimeoutMs });
      return results.map(({ result }) => {
        if (result.case !== 'refused') return result.case ?? 'nothing';
        return `${Refusal[result.value.refusal]}: ${result.value.message}`;
      });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // Whatever isn't said by a dispatch is what its death or its pause looks like.
      const code = error.origin === 'peer' ? Code[error.code] : 'UNAVAILABLE';
      return keys.map(() => `${code}: ${error.message}`);
    }
  }

  /** Sends each again until it is acknowledged. Throws for an answer that says that this is in vain. */
  async submitSurely(keys: readonly string[]): Promise<void> {
    let open = keys;
    await becomes('all items are acknowledged', async () => {
      const answers = await this.submit(open);
      const wrong = answers.find((answer) => !/^(accepted$|UNAVAILABLE: |DEADLINE_EXCEEDED: )/.test(answer));
      if (wrong !== undefined) throw new Error(wrong);
      open = open.filter((_, index) => answers[index] !== 'accepted');
      return open.length === 0;
    });
  }

  /** What a key has become, as `SUCCEEDED KEY` with its output; of the keys that are stored. */
  async outcomes(flow = flowName): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let pageToken = '';
    do {
      const page = await this.#runs.list(
        { filter: { business, flow }, pageSize, pageToken, fields: ['upper'] },
        { timeoutMs },
      );
      for (const { name, status, fields } of page.runs) {
        const key = Buffer.from(name?.key ?? []).toString();
        const upper = Buffer.from(fields[0]?.cell?.value ?? []).toString();
        found.set(key, `${State[status?.state ?? 0]} ${upper}`.trim());
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return found;
  }

  /** Resolves when each of these has ended as it should, and nothing else is stored. */
  async allSucceed(keys: readonly string[], withinMs?: number): Promise<void> {
    const wanted = [...keys].sort().map((key) => `${key}: SUCCEEDED ${key.toUpperCase()}`);
    let last = '';
    const look = async () => {
      const found = [...(await this.outcomes())].map(([key, outcome]) => `${key}: ${outcome}`).sort();
      last = found.filter((each) => !wanted.includes(each)).join(', ');
      return found.length === wanted.length && last === '';
    };
    try {
      await becomes('every item has succeeded', look, withinMs);
    } catch (error) {
      throw new Error(`${String(error)}; found besides: ${last.slice(0, 1_000)}`, { cause: error });
    }
  }

  /** Stores a flow and releases it; answers its version. */
  async publish(text: string): Promise<number> {
    const { version, problems } = await this.#flows.push({ text, release: true, author: 'test' }, { timeoutMs });
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    return version;
  }

  async signal(key: string, name: string, flow = flowName): Promise<void> {
    const run = { business, flow, key: Buffer.from(key) };
    await this.#runs.signal({ run, name, requestId: `${name}-${key}` }, { timeoutMs });
  }

  /** The version with which the run of a key goes. */
  async versionOf(key: string, flow = flowName): Promise<number | undefined> {
    const { run } = await this.#runs.get({ run: { business, flow, key: Buffer.from(key) } }, { timeoutMs });
    return run?.flowVersion;
  }
}
