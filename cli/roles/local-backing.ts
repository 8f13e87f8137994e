// One machine: everything lies in a data folder, and coordination is inside this process.

import { systemClock } from '../../platform/clock/system-clock.ts';
import { InProcessEndpointDirectory } from '../../platform/coordination/in-process-endpoint-directory.ts';
import { InProcessMembership } from '../../platform/coordination/in-process-membership.ts';
import { InProcessRunLocks } from '../../platform/coordination/in-process-run-locks.ts';
import { SqliteConfiguration } from '../../platform/coordination/sqlite-configuration.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { openDataFolder } from '../../store/sqlite/data-folder.ts';
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { Backing } from './backing.ts';

export interface LocalOptions {
  /** Folder of all state; created when it is not there. No second process may use it. */
  readonly data: string;
  readonly logger: Logger;
  /** Called once when the process can't go on, and has to be stopped: the disk has failed. */
  readonly onFatal: (cause: string) => void;
}

/** Throws DataFolderError when the folder can't be used. What is opened is closed by `opened`. */
export function openLocalBacking({ data, logger, onFatal }: LocalOptions, opened: AsyncDisposableStack): Backing {
  const folder = openDataFolder(data);
  opened.defer(() => folder.close());
  const store = new SqliteStore(folder.file('runs.db'), {
    onFailure: ({ kind, cause }) => {
      logger.error(kind === 'stopped' ? 'the store has stopped' : 'a transaction failed', cause);
      if (kind === 'stopped') onFatal(cause);
    },
  });
  opened.defer(() => store.close());
  const configuration = new SqliteConfiguration(folder.file('configuration.db'));
  opened.defer(() => configuration.close());
  return {
    store,
    configuration,
    membership: new InProcessMembership(systemClock),
    locks: new InProcessRunLocks(systemClock),
    directory: new InProcessEndpointDirectory(),
  };
}
