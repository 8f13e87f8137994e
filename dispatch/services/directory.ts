// weir.directory.v1.Directory: the modules that this process knows, and how they are.

import { type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { Directory } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import type { ModuleView } from '../modules/caller.ts';

/** `view`: the modules as they are at the moment of the call. */
export function directoryService(view: () => ModuleView[]): ImplementedService {
  return implement(Directory, {
    listModules: async () => ({ modules: view().map((module) => ({ ...module, endpoints: [...module.endpoints] })) }),
  });
}
