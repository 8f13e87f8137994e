// weir.flow.v1.Routes: which flow an item takes that names none.

import { didYouMean } from '../../flow/nearest-name.ts';
import { parseRoutes } from '../../flow/routing/definition.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type Handlers, type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import type { Release } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { Routes } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import type { Audit } from '../../store/catalogue/audit.ts';
import type { FlowCatalogue } from '../../store/catalogue/flow-catalogue.ts';
import type { RouteCatalogue } from '../../store/catalogue/route-catalogue.ts';
import { checkAudit, checkName, pushConflict, releasedOf, toProblem } from './releases.ts';

type RouteHandlers = Handlers<typeof Routes>;

export function routesService(routes: RouteCatalogue, flows: FlowCatalogue): ImplementedService {
  return implement(Routes, { ...changingHandlers(routes, flows), ...readingHandlers(routes) });
}

function changingHandlers(
  routes: RouteCatalogue,
  flows: FlowCatalogue,
): Pick<RouteHandlers, 'push' | 'release' | 'rollback'> {
  return {
    push: async ({ text, expectedVersion, release, ...request }) => {
      const audit = checkAudit(request);
      const parsed = parseRoutes(text, await flows.owners());
      if (parsed.kind === 'problems') return { problems: parsed.problems.map(toProblem) };
      const { business } = parsed.table;
      const pushed = await routes.push(parsed.table, text, audit, expectedVersion);
      if (pushed.kind === 'conflict') throw pushConflict(`routes of ${business}`, pushed, expectedVersion);
      const { version, created } = pushed;
      if (release) await releaseRoutes(routes, business, version, audit);
      return { version, created };
    },
    release: async ({ business, version, expectedRelease, ...request }) => {
      checkName('business', business);
      const { release, previous } = await releaseRoutes(
        routes,
        business,
        version,
        checkAudit(request),
        expectedRelease,
      );
      return { previousVersion: previous?.version ?? 0, release };
    },
    rollback: async ({ business, toRelease, expectedRelease, ...request }) => {
      checkName('business', business);
      const audit = checkAudit(request);
      await checkThere(routes, business);
      const result = await routes.rollback(business, toRelease, audit, expectedRelease);
      return { release: releasedOf(`routes of ${business}`, result, expectedRelease).release };
    },
  };
}

function readingHandlers(routes: RouteCatalogue): Pick<RouteHandlers, 'listReleases' | 'get' | 'list'> {
  return {
    listReleases: async ({ business }) => {
      checkName('business', business);
      await checkThere(routes, business);
      return { releases: [...(await routes.releases(business))] };
    },
    get: async ({ business, version: asked }) => {
      checkName('business', business);
      const version = asked === 0 ? ((await routes.currentRelease(business))?.version ?? 0) : asked;
      const found = version === 0 ? undefined : await routes.get(business, version);
      if (found) return { routes: found };
      throw await noSuchVersion(routes, business, version, await routes.newest(business));
    },
    list: async () => {
      const summaries = await routes.list();
      return {
        routes: summaries.map(({ business, newest, release }) => ({
          business,
          newestVersion: newest,
          releasedVersion: release?.version ?? 0,
          releaseNumber: release?.number ?? 0,
        })),
      };
    },
  };
}

async function releaseRoutes(
  routes: RouteCatalogue,
  business: string,
  version: number,
  audit: Audit,
  expected?: number,
): Promise<{ readonly release: Release; readonly previous: Release | undefined }> {
  const result = await routes.release(business, version, audit, expected);
  if (result.kind === 'absent') throw await noSuchVersion(routes, business, version, result.newest);
  if (result.kind === 'unreleased flow') {
    const message = `${result.path}: no version of flow ${result.flow} is released; release it first`;
    throw new RpcError(Code.FAILED_PRECONDITION, message);
  }
  return releasedOf(`routes of ${business}`, result, expected);
}

async function checkThere(routes: RouteCatalogue, business: string): Promise<void> {
  if ((await routes.newest(business)) === 0) throw await noSuchVersion(routes, business, 0, 0);
}

/** `version` 0 stands for the released one, of which there is none. */
async function noSuchVersion(
  routes: RouteCatalogue,
  business: string,
  version: number,
  newest: number,
): Promise<RpcError> {
  if (newest === 0) {
    const names = (await routes.list()).map((summary) => summary.business);
    return new RpcError(Code.NOT_FOUND, `there are no routes of business ${business}${didYouMean(business, names)}`);
  }
  const what = `routes of business ${business}`;
  const found = version === 0 ? `no version of the ${what} is released` : `the ${what} have no version ${version}`;
  return new RpcError(Code.NOT_FOUND, `${found}; versions are 1 to ${newest}`);
}
