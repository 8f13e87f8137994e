// The floor in a process of its own, so that its CPU can be told apart: node floor-process.ts ADDRESS ITEMS IN_FLIGHT BYTES

import { callRaw } from './raw-calls.ts';

const [, , address = '', items = '0', inFlight = '1', bytes = '200'] = process.argv;
process.on('message', () => {
  callRaw(address, Number(items), Number(inFlight), new Uint8Array(Number(bytes)).fill(97)).then(
    () => process.send?.('done'),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
