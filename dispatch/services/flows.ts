// weir.flow.v1.Flows: the catalogue of flows.

import { type FlowProblem, parseFlow } from '../../flow/definition/definition.ts';
import { didYouMean } from '../../flow/nearest-name.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import type { FlowCatalogue } from '../../store/flow-catalogue.ts';
import { flowNameProblem } from './names.ts';

export function flowsService(catalogue: FlowCatalogue): ImplementedService {
  return implement(Flows, {
    validate: async ({ text }) => {
      const parsed = parseFlow(text);
      return parsed.kind === 'flow' ? { flow: parsed.flow } : { problems: parsed.problems.map(toMessage) };
    },
    push: async ({ text, expectedVersion, release }) => {
      const parsed = parseFlow(text);
      if (parsed.kind === 'problems') return { problems: parsed.problems.map(toMessage) };
      const { flow } = parsed;
      const pushed = await catalogue.push(flow, text, expectedVersion);
      if (pushed.kind === 'conflict') {
        const newest = pushed.newest === 0 ? 'has no version yet' : `has version ${pushed.newest} as its newest`;
        throw new RpcError(
          Code.ABORTED,
          `expected_version: flow ${flow.name} ${newest}, the request names ${expectedVersion}`,
        );
      }
      const { version, created } = pushed;
      if (release) await catalogue.release(flow.name, version);
      return { version, created };
    },
    release: async ({ name, version }) => {
      checkName(name);
      const released = await catalogue.release(name, version);
      if (released.kind === 'done') return { previousVersion: released.previous };
      throw await noSuchVersion(catalogue, name, version, released.newest);
    },
    get: async ({ name, version: asked }) => {
      checkName(name);
      const version = asked === 0 ? await catalogue.releasedVersion(name) : asked;
      const flow = version === 0 ? undefined : await catalogue.get(name, version);
      if (flow) return { flow };
      throw await noSuchVersion(catalogue, name, version, await catalogue.newest(name));
    },
    list: async () => {
      const flows = await catalogue.list();
      return {
        flows: flows.map(({ name, business, newest, released }) => ({
          ...{ name, business },
          newestVersion: newest,
          releasedVersion: released,
        })),
      };
    },
  });
}

function toMessage({ path, message, line, column }: FlowProblem) {
  return { path, message, line, column };
}

function checkName(name: string): void {
  const problem = flowNameProblem(name);
  if (problem !== undefined) throw new RpcError(Code.INVALID_ARGUMENT, `name: ${problem}`);
}

/** `version` 0 stands for the released one, of which there is none. */
async function noSuchVersion(
  catalogue: FlowCatalogue,
  name: string,
  version: number,
  newest: number,
): Promise<RpcError> {
  if (newest === 0) {
    const names = (await catalogue.list()).map((flow) => flow.name);
    return new RpcError(Code.NOT_FOUND, `there is no flow ${name}${didYouMean(name, names)}`);
  }
  const found = version === 0 ? `no version of flow ${name} is released` : `flow ${name} has no version ${version}`;
  return new RpcError(Code.NOT_FOUND, `${found}; its versions are 1 to ${newest}`);
}
