// What every store promises, on a real HBase.

import { openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import { assignmentsContract } from '../../contract/assignments.contract.ts';
import { storeContract } from '../../contract/store.contract.ts';
import { makeTable } from './own-table.ts';

async function openOwn() {
  const own = await makeTable();
  const store = await openHBaseStore({ hbase: own.hbase, table: own.table });
  return {
    store,
    dispose: async () => {
      await store.close();
      await own.dispose();
    },
  };
}

storeContract('hbase', openOwn);

assignmentsContract('hbase', async () => {
  const { store, dispose } = await openOwn();
  return { subject: store, dispose };
});
