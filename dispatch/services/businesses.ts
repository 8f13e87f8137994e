// weir.flow.v1.Businesses: who answers for flows and items.

import { timestampDate } from '@bufbuild/protobuf/wkt';
import { flowLimits } from '../../flow/definition/limits.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { type Business, Businesses } from '../../proto/gen/weir/flow/v1/businesses_pb.js';
import { auditLimits } from '../../store/catalogue/audit.ts';
import type { BusinessCatalogue } from '../../store/catalogue/business-catalogue.ts';
import { count } from './names.ts';
import { checkAudit, checkLine, checkName } from './releases.ts';

/** Owners of one business line: those who are asked, not all who work with it. */
const maxOwners = 100;

export function businessesService(catalogue: BusinessCatalogue): ImplementedService {
  return implement(Businesses, {
    set: async ({ name, owners, description, expectedRevision, author }) => {
      checkName('name', name);
      checkAudit({ author });
      if (owners) checkOwners(owners.names);
      if (description !== undefined) checkLine('description', description, flowLimits.maxDescriptionCharacters);
      const change = {
        author,
        ...(owners && { owners: owners.names }),
        ...(description !== undefined && { description }),
      };
      const result = await catalogue.set(name, change, expectedRevision);
      if (result.kind === 'done') return { business: result.business };
      const found = describe(result.current);
      const message = `expected_revision: business ${name} ${found}, the request names ${expectedRevision}`;
      throw new RpcError(Code.ABORTED, message);
    },
    list: async () => ({ businesses: await catalogue.list() }),
  });
}

function checkOwners(owners: readonly string[]): void {
  if (owners.length > maxOwners) {
    const message = `owners: found ${count(owners.length)}, at most ${maxOwners} are allowed`;
    throw new RpcError(Code.INVALID_ARGUMENT, message);
  }
  for (const [index, owner] of owners.entries()) {
    checkLine(`owners[${index}]`, owner, auditLimits.maxAuthorCharacters);
    if (owner.trim() === '') throw new RpcError(Code.INVALID_ARGUMENT, `owners[${index}]: is empty`);
    if (owners.indexOf(owner) < index) {
      throw new RpcError(Code.INVALID_ARGUMENT, `owners[${index}]: ${JSON.stringify(owner)} is there twice`);
    }
  }
}

function describe(business: Business | undefined): string {
  if (!business) return 'is not there yet';
  const { revision, author, changedAt } = business;
  const by = [author && `by ${author}`, changedAt && timestampDate(changedAt).toISOString()].filter(Boolean);
  return `has revision ${revision} (${by.join(', ')})`;
}
