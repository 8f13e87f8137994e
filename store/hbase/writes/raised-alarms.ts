import type { RunId } from '../../../flow/run.ts';
import type { EncodedAlarm } from '../../encoded-write.ts';
import type { RaisedAlarm } from '../alarm-ledger.ts';

/** The alarms of a write. One that has the run in its key is raised by nobody else, so it stands in the run's shard only. */
export function raisedBy(run: RunId, alarms: readonly EncodedAlarm[]): RaisedAlarm[] {
  return alarms.map((alarm) => ({ ...alarm, shared: !alarm.key.includes(run) }));
}
