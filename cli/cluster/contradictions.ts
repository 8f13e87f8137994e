// Settings of a cluster of which each is allowed, but not beside the other. Both places are named.

import type { Setting } from '../../platform/settings/settings.ts';
import type { ClusterSettings } from './cluster-settings.ts';

/** Where a value comes from. */
export interface Place {
  /** For people: `spout.grace_ms (line 12)`, `WEIR_SPOUT_GRACE_MS`, `spout.grace_ms (default)`. */
  readonly place: string;
  /** Absent when it isn't from the file. */
  readonly setting: Setting | undefined;
}

/** By path. */
export type Places = Map<string, Place>;

export interface Contradiction {
  readonly at: Place;
  readonly message: string;
}

export function findContradictions(settings: ClusterSettings, places: Places): readonly Contradiction[] {
  const { dispatch, spout, zookeeper } = settings;
  const found: Contradiction[] = [];
  const contradict = (path: string, message: (other: (path: string) => string) => string): void => {
    const at = places.get(path);
    if (at) found.push({ at, message: message((other) => places.get(other)?.place ?? other) });
  };
  if (spout.graceMs < 2 * zookeeper.sessionMs) {
    contradict('spout.grace_ms', (place) => {
      const session = `${place('zookeeper.session_ms')}, which is ${zookeeper.sessionMs}`;
      return `${spout.graceMs} ms is less than two sessions of ${session}: a holder that reconnects in time would lose its runs`;
    });
  }
  if (dispatch.advertise === undefined && /^(0\.0\.0\.0|\[::\]):/.test(dispatch.address)) {
    contradict('dispatch.address', (place) => {
      return `${dispatch.address} is no address that spouts can find; give ${place('dispatch.advertise')} beside it`;
    });
  }
  if (dispatch.advertise !== undefined && dispatch.address.endsWith(':0')) {
    contradict('dispatch.advertise', (place) => {
      return `${dispatch.advertise} is told to spouts, but ${place('dispatch.address')} takes whichever port is free`;
    });
  }
  if (spout.address === dispatch.address && !spout.address.endsWith(':0')) {
    contradict('spout.address', (place) => `${spout.address} is also ${place('dispatch.address')}`);
  }
  return found;
}
