// weir.flow.v1.Flows: the catalogue of flows.

import { locateFaults, parseFlow } from '../../flow/definition/definition.ts';
import { differences } from '../../flow/difference.ts';
import { didYouMean } from '../../flow/nearest-name.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type Handlers, type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { type Flow, FlowSchema } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { Flows, type FlowVersion } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import type { BusinessCatalogue } from '../../store/catalogue/business-catalogue.ts';
import type { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import { linkPublished } from '../../store/catalogue/link-published.ts';
import { checkGray } from './gray.ts';
import { checkAudit, checkName, pushConflict, releasedOf, toProblem } from './releases.ts';

type FlowHandlers = Handlers<typeof Flows>;

export function flowsService(catalogue: FlowCatalogue, businesses: BusinessCatalogue): ImplementedService {
  return implement(Flows, {
    ...versionHandlers(catalogue),
    ...releaseHandlers(catalogue, businesses),
    ...readingHandlers(catalogue),
  });
}

function versionHandlers(catalogue: FlowCatalogue): Pick<FlowHandlers, 'validate' | 'push' | 'diff'> {
  return {
    validate: async ({ text }) => {
      const parsed = parseFlow(text);
      return parsed.kind === 'flow' ? { flow: parsed.flow } : { problems: parsed.problems.map(toProblem) };
    },
    push: async ({ text, expectedVersion, release, ...request }) => {
      const audit = checkAudit(request);
      const parsed = parseFlow(text);
      if (parsed.kind === 'problems') return { problems: parsed.problems.map(toProblem) };
      const linked = await linkPublished(catalogue, parsed.flow);
      if (linked.kind === 'problems') return { problems: locateFaults(text, linked.problems).map(toProblem) };
      const { flow } = linked;
      const pushed = await catalogue.push(flow, text, audit, expectedVersion);
      if (pushed.kind === 'conflict') throw pushConflict(`flow ${flow.name}`, pushed, expectedVersion);
      if (pushed.kind === 'moved') {
        const message = `flow ${flow.name} belongs to business ${pushed.business}, found ${JSON.stringify(flow.business)}; give it another name`;
        throw new RpcError(Code.FAILED_PRECONDITION, message);
      }
      const { version, created } = pushed;
      if (release) await catalogue.release(flow.name, { version }, audit);
      return { version, created };
    },
    diff: async ({ name, fromVersion, to }) => {
      checkName('name', name);
      const from = flowOf(await findVersion(catalogue, name, fromVersion));
      if (to.case === 'toText') {
        const parsed = parseFlow(to.value);
        if (parsed.kind === 'problems') return { problems: parsed.problems.map(toProblem) };
        return { differences: differences(FlowSchema, from, parsed.flow) };
      }
      const other = flowOf(await findVersion(catalogue, name, to.value ?? 0));
      return { differences: differences(FlowSchema, from, other) };
    },
  };
}

function releaseHandlers(
  catalogue: FlowCatalogue,
  businesses: BusinessCatalogue,
): Pick<FlowHandlers, 'release' | 'rollback' | 'listReleases'> {
  return {
    release: async ({ name, version, gray, expectedRelease, ...request }) => {
      checkName('name', name);
      const audit = checkAudit(request);
      if (gray) {
        const stable = version || ((await catalogue.currentRelease(name))?.version ?? 0);
        checkGray(gray, stable, new Set((await businesses.list()).map((business) => business.name)));
      }
      if (version === 0 && !gray) {
        throw new RpcError(Code.INVALID_ARGUMENT, 'version: is 0, which keeps the released one beside a gray version');
      }
      const result = await catalogue.release(name, { version, ...(gray && { gray }) }, audit, expectedRelease);
      if (result.kind === 'absent') throw await noSuchVersion(catalogue, name, result.version, result.newest);
      if (result.kind === 'nothing to keep')
        throw await noSuchVersion(catalogue, name, 0, await catalogue.newest(name));
      const { release, previous } = releasedOf(`flow ${name}`, result, expectedRelease);
      return { previousVersion: previous?.version ?? 0, release };
    },
    rollback: async ({ name, toRelease, expectedRelease, ...request }) => {
      checkName('name', name);
      const audit = checkAudit(request);
      await checkThere(catalogue, name);
      const result = await catalogue.rollback(name, toRelease, audit, expectedRelease);
      return { release: releasedOf(`flow ${name}`, result, expectedRelease).release };
    },
    listReleases: async ({ name }) => {
      checkName('name', name);
      await checkThere(catalogue, name);
      return { releases: [...(await catalogue.releases(name))] };
    },
  };
}

function readingHandlers(catalogue: FlowCatalogue): Pick<FlowHandlers, 'get' | 'list'> {
  return {
    get: async ({ name, version }) => {
      checkName('name', name);
      return { flow: await findVersion(catalogue, name, version) };
    },
    list: async () => {
      const flows = await catalogue.list();
      return {
        flows: flows.map(({ name, business, newest, release }) => ({
          ...{ name, business },
          newestVersion: newest,
          releasedVersion: release?.version ?? 0,
          grayVersion: release?.gray?.version ?? 0,
          releaseNumber: release?.number ?? 0,
        })),
      };
    },
  };
}

/** A version, the released one for 0. Throws NOT_FOUND. */
async function findVersion(catalogue: FlowCatalogue, name: string, asked: number): Promise<FlowVersion> {
  const version = asked === 0 ? ((await catalogue.currentRelease(name))?.version ?? 0) : asked;
  const found = version === 0 ? undefined : await catalogue.get(name, version);
  if (found) return found;
  throw await noSuchVersion(catalogue, name, version, await catalogue.newest(name));
}

function flowOf({ flow, version }: FlowVersion): Flow {
  if (flow) return flow;
  throw new Error(`version ${version} was stored without its flow`);
}

async function checkThere(catalogue: FlowCatalogue, name: string): Promise<void> {
  if ((await catalogue.newest(name)) === 0) throw await noSuchVersion(catalogue, name, 0, 0);
}

/** `version` 0 stands for the released one, of which there is none. */
async function noSuchVersion(
  catalogue: FlowCatalogue,
  name: string,
  version: number,
  newest: number,
): Promise<RpcError> {
  if (newest === 0) {
    const names = (await catalogue.owners()).keys();
    return new RpcError(Code.NOT_FOUND, `there is no flow ${name}${didYouMean(name, names)}`);
  }
  const found = version === 0 ? `no version of flow ${name} is released` : `flow ${name} has no version ${version}`;
  return new RpcError(Code.NOT_FOUND, `${found}; its versions are 1 to ${newest}`);
}
