// A flow linked with the flows it names as they are published now: see flow/definition/link.ts.

import { flowsNamed, type LinkResult, linkFlow, type PublishedFlow } from '../../flow/definition/link.ts';
import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import type { FlowCatalogue } from './flow-catalogue.ts';

/** Looks up what the flow names, and what that names in turn; then checks it and fixes the versions of its sub-flows. */
export async function linkPublished(catalogue: FlowCatalogue, flow: Flow): Promise<LinkResult> {
  const found = new Map<string, PublishedFlow | undefined>();
  // The list grows while it is walked. Each version of each flow is looked up once, so the walk ends.
  const references = flowsNamed(flow);
  for (const { name, version, isSubFlow } of references) {
    const key = `${name} ${version}`;
    if (!found.has(key)) found.set(key, await published(catalogue, name, version));
    const named = found.get(key);
    if (!isSubFlow || !named) continue;
    for (const next of flowsNamed(named.flow)) {
      const isKnown = references.some((each) => each.name === next.name && each.version === next.version);
      if (!isKnown || (next.isSubFlow && !references.some((each) => each.name === next.name && each.isSubFlow))) {
        references.push(next);
      }
    }
  }
  const names = (await catalogue.list()).map(({ name }) => name);
  return linkFlow(flow, (name, version) => found.get(`${name} ${version}`), names);
}

async function published(catalogue: FlowCatalogue, name: string, version: number): Promise<PublishedFlow | undefined> {
  const wanted = version === 0 ? ((await catalogue.currentRelease(name))?.version ?? 0) : version;
  const stored = wanted === 0 ? undefined : await catalogue.get(name, wanted);
  return stored?.flow && { flow: stored.flow, version: wanted };
}
