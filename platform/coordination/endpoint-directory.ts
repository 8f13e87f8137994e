// The port to the directory of endpoints: which processes of which modules are registered, at whichever dispatch.

export interface RegisteredEndpoint {
  /** As steps name it in `call`. */
  readonly module: string;
  /** `IP:port` */
  readonly address: string;
  /** New for each registration: the same address may come back as another process. */
  readonly registration: string;
  /** Calls in flight that it takes, from 1. */
  readonly concurrency: number;
  /** Its share of calls beside others of its module, from 1. */
  readonly weight: number;
  /** Of the module's program; empty when it says none. */
  readonly version: string;
  /** The data centre or cloud it belongs to; empty where there is only one. */
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface EndpointDirectory {
  /** Resolves when others can see the endpoint. It is gone when withdrawn, and when this process is. */
  publish(endpoint: RegisteredEndpoint): Promise<void>;
  withdraw(endpoint: RegisteredEndpoint): Promise<void>;
  /** All that are registered anywhere, as last heard. */
  endpoints(): readonly RegisteredEndpoint[];
  /** Calls `listener` after each change, until the answer is called. */
  watch(listener: () => void): () => void;
}
