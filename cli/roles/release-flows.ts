// The flows that an engine is started with: those that are new are stored and released.

import { flowsNamed } from '../../flow/definition/link.ts';
import type { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import { linkPublished } from '../../store/catalogue/link-published.ts';
import { usageFailure } from '../failure.ts';
import type { FlowFile } from '../flow-file.ts';

type GivenFlows = readonly Pick<FlowFile, 'text' | 'flow'>[];

interface ReleasedFlow {
  readonly name: string;
  readonly version: number;
}

/** Who pushes and releases what an engine is started with. */
const startAudit = { author: 'weir up', comment: '' };

/** Stores and releases the flows that are new: those that others run first. */
export async function releaseFlows(catalogue: FlowCatalogue, flows: GivenFlows): Promise<ReleasedFlow[]> {
  const released: ReleasedFlow[] = [];
  for (const { flow: unlinked, text } of childrenFirst(flows)) {
    const linked = await linkPublished(catalogue, unlinked);
    if (linked.kind === 'problems') {
      const problems = linked.problems.map(({ path, message }) => `${path}: ${message}`);
      throw usageFailure(`--flows: flow ${unlinked.name}: ${problems.join('; ')}`);
    }
    const { flow } = linked;
    const pushed = await catalogue.push(flow, text, startAudit);
    if (pushed.kind === 'moved') {
      throw usageFailure(
        `--flows: flow ${flow.name} belongs to business ${pushed.business}, found ${flow.business}; give it another name`,
      );
    }
    if (pushed.kind === 'conflict') throw new Error(`flow ${flow.name}: a conflict without an expected version`);
    // What is there already stays as its operators left it: a restart must not undo a rollback.
    const before = await catalogue.currentRelease(flow.name);
    if (pushed.created || !before) await catalogue.release(flow.name, { version: pushed.version }, startAudit);
    const version = (await catalogue.currentRelease(flow.name))?.version ?? 0;
    released.push({ name: flow.name, version });
  }
  return released;
}

/** In an order in which every flow comes after those that it names; flows that name each other keep theirs. */
function childrenFirst(flows: GivenFlows): GivenFlows {
  const ordered: Array<GivenFlows[number]> = [];
  const visit = (each: GivenFlows[number], above: ReadonlySet<string>): void => {
    if (ordered.includes(each) || above.has(each.flow.name)) return;
    const names = new Set(flowsNamed(each.flow).map(({ name }) => name));
    const within = new Set([...above, each.flow.name]);
    for (const other of flows) if (names.has(other.flow.name)) visit(other, within);
    ordered.push(each);
  };
  for (const each of flows) visit(each, new Set());
  return ordered;
}
