// Whoever is told that an item was taken in finds a run with just these fields, of the generation after the one that was expected.
// Every run is one that somebody submitted, or that another run started, and nobody is turned away for a conflict with what isn't there.

import { inputWriter, type RunId, splitFieldKey } from '../../../flow/run.ts';
import { identityOf, printableRun, runParts } from '../../../flow/run-id.ts';
import type { ClientHappening, Submission } from '../world/history.ts';
import type { MakeChecker, RunView } from './checker.ts';

export const submissionsAreKept: MakeChecker = (_evidence, report) => {
  /** What was asked for, by the run that it is to become. */
  const asked = new Map<RunId, Set<string>>();
  /** Inputs of all generations of an item. */
  const inputs = new Map<string, Set<string>>();
  const checkClient = ({ what, run, submission, detail }: ClientHappening, after: RunView | undefined) => {
    if (!submission) return;
    const wanted = textOf(submission.fields);
    if (what === 'submitted') asked.set(run, (asked.get(run) ?? new Set()).add(wanted));
    if (what === 'acknowledged' && after) {
      const wrong = wrongRun(run, after, submission);
      if (wrong) report(`${printableRun(run)} was acknowledged, ${wrong}`);
    }
    if (what !== 'turned away' || !detail.startsWith('conflict')) return;
    const others = [...(inputs.get(identityOf(run)) ?? [])].filter((other) => other !== wanted);
    if (others.length === 0) report(`${printableRun(run)} was turned away, and conflicts with nothing: ${detail}`);
  };
  return {
    see(record, _before, after) {
      if (record.kind === 'client') checkClient(record, after);
      if (record.kind !== 'write' || record.operation !== 'create' || record.result !== 'done' || !after) return;
      const { run } = record;
      if (after.control.parent) return;
      const created = textOf(inputsOf(after));
      inputs.set(identityOf(run), (inputs.get(identityOf(run)) ?? new Set()).add(created));
      if (!asked.get(run)?.has(created))
        report(`${printableRun(run)} was created with ${created}, which nobody submitted`);
    },
  };
};

function wrongRun(run: RunId, view: RunView, { fields, expectedGeneration, created }: Submission): string | undefined {
  const { generation } = runParts(run);
  const isExact = expectedGeneration > 0 || created === true;
  if (isExact && generation !== expectedGeneration + 1) return `expected was generation ${expectedGeneration}`;
  const [wanted, stored] = [textOf(fields), textOf(inputsOf(view))];
  return wanted === stored ? undefined : `submitted was ${wanted}, it has ${stored}`;
}

function inputsOf({ fields }: RunView): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [key, { bytes }] of fields) {
    const { writer, name } = splitFieldKey(key);
    if (writer === inputWriter) values.set(name, Buffer.from(bytes).toString('latin1'));
  }
  return values;
}

function textOf(fields: ReadonlyMap<string, string>): string {
  return JSON.stringify([...fields].sort(([one], [other]) => (one < other ? -1 : 1)));
}
