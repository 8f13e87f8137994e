import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { storeContract } from './store.contract.ts';

storeContract('memory', async () => {
  const store = new MemoryStore();
  return { store, dispose: () => store.close() };
});

storeContract('sqlite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-store-'));
  const store = new SqliteStore(join(folder, 'runs.db'));
  return {
    store,
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
