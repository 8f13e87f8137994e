import type { DirectorySetting } from '../../dispatch/modules/configuration.ts';

/** What a cluster file says, with the environment over it and defaults in the gaps. */
export interface ClusterSettings {
  /** The data centre or cloud: a complete set of roles and services. */
  readonly unit: string;
  /** Folder in which each process keeps the configuration that it read last, for the time ZooKeeper is away. */
  readonly cache: string;
  readonly zookeeper: {
    readonly servers: readonly string[];
    /** Node below which everything of this cluster lies. */
    readonly root: string;
    readonly sessionMs: number;
  };
  readonly redis: {
    /** One server, or an odd number of independent ones, of which more than half must agree. */
    readonly servers: readonly string[];
    readonly user?: string;
    readonly password?: string;
  };
  readonly hbase: {
    /** Region servers or masters to begin with; the others are found by them. */
    readonly servers: readonly string[];
    readonly table: string;
    /** Where servers are reached that don't have the address that they say of themselves: through a tunnel. By that address. */
    readonly via: ReadonlyMap<string, string>;
  };
  readonly dispatch: {
    readonly address: string;
    /** Where spouts find it; the bound address when absent. */
    readonly advertise?: string;
    readonly maxRuns: number;
    readonly lockTtlMs: number;
    readonly drainMs: number;
  };
  readonly spout: {
    readonly address: string;
    /** Its share of the shards beside other spouts. */
    readonly weight: number;
    readonly graceMs: number;
  };
  /** Where modules are. */
  readonly directory: DirectorySetting;
}
