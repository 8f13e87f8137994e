// `npm start`: the whole example, from an empty folder to a report. Only this file touches the process it runs in.
import { listMails } from './corpus.ts';
import { run } from './start/demonstration.ts';
import { parseOptions, usage } from './start/options.ts';
import { Progress } from './start/progress.ts';

async function main(): Promise<number> {
  const parsed = parseOptions(process.argv.slice(2), listMails().length);
  if (parsed.kind === 'help') {
    console.log(usage);
    return 0;
  }
  if (parsed.kind === 'mistake') {
    console.error(`${parsed.message}\n\n${usage}`);
    return 2;
  }
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interrupted.abort());
  const { options } = parsed;
  const progress = new Progress(process.stderr);
  const say = (line: string) => {
    progress.clear();
    (options.json ? console.error : console.log)(line);
  };
  return run({ options, interrupted: interrupted.signal, progress, say, result: (line) => console.log(line) });
}

process.exitCode = await main();
