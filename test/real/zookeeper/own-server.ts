// A ZooKeeper of a test file's own, to be killed and frozen, with a way to it that can be cut.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Instance, startZooKeeper } from '../../../scripts/services/instance.ts';
import { LinkProxy } from '../links/link-proxy.ts';

export interface OwnServer {
  readonly address: string;
  readonly instance: Instance;
  /** A way to the server that ends with the test. */
  link(): Promise<LinkProxy>;
}

/** For all tests of a file. */
export function ownServer(port: number): OwnServer {
  let instance: Instance | undefined;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-zookeeper-'));
    instance = await startZooKeeper({ folder: join(folder, 'server'), port });
  });
  afterAll(async () => {
    await instance?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const address = `127.0.0.1:${port}`;
  return {
    address,
    get instance() {
      if (!instance) throw new Error('the server is started by beforeAll');
      return instance;
    },
    async link() {
      const link = await LinkProxy.open({ port: 0, target: address });
      onTestFinished(() => link.close());
      return link;
    },
  };
}
