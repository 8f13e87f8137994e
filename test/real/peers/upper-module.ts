// A module served by the SDK, for foreign clients. Prints its address.

import { rejected, serveModule } from '@weir/module';

const served = await serveModule(
  {
    name: 'text.upper',
    input: { text: 'string' },
    output: { upper: 'string' },
    process: ({ fields }) => {
      if (fields.text === '') throw rejected('处理失败：参数');
      return { upper: fields.text.toUpperCase() };
    },
  },
  { address: '127.0.0.1:0' },
);
console.log(served.address);
