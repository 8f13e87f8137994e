// Names of a foreign definition that no flow may have: in any script, with any signs. A flow keeps them in its description, one a
// line, so that the way back finds them again:
//
//   pipeline "广告视频生成"
//   task_2 is task "解码"
//   class-1 is class "视频Task"

/** A name of ours, and the original that it stands for. */
export interface OriginalNames {
  readonly pipeline: string | undefined;
  /** Originals of step ids. */
  readonly tasks: ReadonlyMap<string, string>;
  /** Originals of modules. */
  readonly classes: ReadonlyMap<string, string>;
}

const pipelineForm = /^pipeline (".*")$/;
const nameForm = /^([a-z][a-z0-9_.-]*) is (task|class) (".*")$/;

/** The lines of a description; none when every name could stay as it is. */
export function printOriginalNames({ pipeline, tasks, classes }: OriginalNames): string {
  return [
    ...(pipeline === undefined ? [] : [`pipeline ${JSON.stringify(pipeline)}`]),
    ...[...tasks].map(([id, original]) => `${id} is task ${JSON.stringify(original)}`),
    ...[...classes].map(([module, original]) => `${module} is class ${JSON.stringify(original)}`),
  ].join('\n');
}

/** What a description says of originals; other lines are left alone. */
export function readOriginalNames(description: string): OriginalNames {
  let pipeline: string | undefined;
  const tasks = new Map<string, string>();
  const classes = new Map<string, string>();
  for (const line of description.split('\n')) {
    pipeline ??= textIn(pipelineForm.exec(line)?.[1]);
    const [, name = '', kind, quoted] = nameForm.exec(line) ?? [];
    const original = textIn(quoted);
    if (original !== undefined) (kind === 'task' ? tasks : classes).set(name, original);
  }
  return { pipeline, tasks, classes };
}

function textIn(quoted: string | undefined): string | undefined {
  if (quoted === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // A line that a person wrote.
    return undefined;
  }
}
