import { parseArgs } from 'node:util';

export interface Options {
  /** End when all mails are done, instead of keeping the engine running. */
  readonly exit: boolean;
  /** Run the engine as a cluster of four processes on ZooKeeper, Redis and HBase. */
  readonly cluster: boolean;
  /** Print one line of JSON on standard output; all else goes to standard error. */
  readonly json: boolean;
  /** Folder of the engine's data, and of the logs. */
  readonly data: string;
  /** Submit only the first mails of the corpus. */
  readonly limit: number;
}

export type Parsed =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

export const usage = `Usage: npm start -- [options]

Drives the 6,046 mails of the SpamAssassin corpus through the flow mail-intake.

  --exit        end when all mails are done (default: keep running until Ctrl-C)
  --cluster     two dispatches and two spouts on ZooKeeper, Redis and HBase, which are installed and started
                (needs Java and Maven), instead of one process
  --json        end with one line of JSON: {"items":…,"byState":{…},"seconds":…}
  --data DIR    where the engine keeps its data (default: ./weir-data); a second start continues there
  --limit N     only the first N mails (default: all)
  --help        this text`;

/** Command-line arguments as options; what is wrong with them is returned as a text for people. */
export function parseOptions(commandLine: readonly string[], corpusSize: number): Parsed {
  let values: { exit?: boolean; cluster?: boolean; json?: boolean; help?: boolean; data?: string; limit?: string };
  try {
    ({ values } = parseArgs({
      args: [...commandLine],
      options: {
        exit: { type: 'boolean' },
        cluster: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
        data: { type: 'string' },
        limit: { type: 'string' },
      },
    }));
  } catch (error) {
    return { kind: 'mistake', message: (error as Error).message.split('. ')[0] ?? '' };
  }
  if (values.help === true) return { kind: 'help' };
  if (values.data === '') return { kind: 'mistake', message: '--data: found an empty name, a folder is needed' };
  const limit = values.limit ?? String(corpusSize);
  if (!/^[0-9]{1,9}$/u.test(limit) || Number(limit) < 1 || Number(limit) > corpusSize) {
    return { kind: 'mistake', message: `--limit: found '${limit}', a number from 1 to ${corpusSize} is needed` };
  }
  return {
    kind: 'run',
    options: {
      exit: values.exit ?? false,
      cluster: values.cluster ?? false,
      json: values.json ?? false,
      data: values.data ?? './weir-data',
      limit: Number(limit),
    },
  };
}
