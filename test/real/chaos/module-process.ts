// One endpoint of one module: node module-process.ts MODULE ADDRESS LEDGER_FOLDER SEED. Prints a line when it serves.
//
// Its outputs are functions of its inputs (chain.ts). What it does besides is a matter of chance: it takes its time, declines, or
// fails on the first tries. The last tries never fail by its own doing, so that no run is given up for bad luck.

import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, ModuleError, serveModule } from '@weir/module';
import { ReturnCode } from '../../../proto/gen/weir/module/v1/module_pb.js';
import { Random } from '../../sim/world/random.ts';
import { outputsOf, poisonedStep, verdictOf } from './chain.ts';
import { Ledger } from './ledger.ts';

const [, , name = '', address = '', folder = '', seed = ''] = process.argv;
const ledger = new Ledger(folder, address.replace(':', '-'));
const random = new Random(Number(seed), address);

/** Of the calls, those that are declined, that fail, and that take long. */
const share = { overloaded: 0.03, failed: 0.02, timedOut: 0.01, slow: 0.03 };
/** Of the step with the long pauses, so that runs are let go of and promoted all the time. */
const failedBeforeLongPause = 0.1;
const usualMs = { least: 2, most: 25 };
const slowMs = { least: 100, most: 400 };
/** Tries that may fail: two of five. */
const mayFailTries = 2;
/** More than the engine ever has out, so that every call reaches the ledger. */
const concurrency = 5_000;

await serveModule(
  {
    name,
    input: {
      ...{ seed: 'string?', root: 'string?', left: 'string?', right: 'string?', join: 'string?' },
      ...{ extra: 'string?', low: 'string?', high: 'string?' },
    },
    output: {
      ...{ root: 'string?', weight: 'string?', left: 'string?', right: 'string?', join: 'string?' },
      ...{ extra: 'string?', low: 'string?', high: 'string?', close: 'string?' },
    },
    process: async ({ fields, call }) => {
      const about = written(call);
      ledger.write({ event: 'received', ...about, atMs: Date.now() });
      try {
        const outputs = await work(about, fields as Record<string, string>);
        ledger.write({ event: 'answered', ...about, code: ReturnCode.SUCC, outputs, atMs: Date.now() });
        return outputs;
      } catch (error) {
        if (error instanceof ModuleError) {
          ledger.write({ event: 'answered', ...about, code: error.code, atMs: Date.now() });
        }
        throw error;
      }
    },
  },
  { address, concurrency },
);
console.log(`${name} is ready at ${address}`);

function written({ callKey, rowkey, step, attempt, epoch }: Call) {
  if (callKey === undefined || step === undefined || attempt === undefined || epoch === undefined) {
    throw new Error('the engine says all of this with every call');
  }
  const key = Buffer.from(rowkey).toString();
  return { callKey, key, step, attempt, epoch: Number(epoch), pid: process.pid };
}

async function work({ step, attempt }: ReturnType<typeof written>, fields: Record<string, string>) {
  if (step === poisonedStep && fields['seed']?.endsWith(' poison') === true) die();
  if (random.chance(share.overloaded)) throw new ModuleError(ReturnCode.SVR_OVER_LOAD, 'no room, by chance');
  const { least, most } = random.chance(share.slow) ? slowMs : usualMs;
  await pause(random.between(least, most));
  const verdict = verdictOf(step, fields);
  if (verdict === 'rejected') throw new ModuleError(ReturnCode.REQ_PKG_PARAM_INVALID, 'this item is to be rejected');
  if (verdict === 'fatal') throw new ModuleError(ReturnCode.FATAL_ERROR, 'this item is to fail');
  if (attempt <= mayFailTries) {
    if (random.chance(step === 'right' ? failedBeforeLongPause : share.failed))
      throw new ModuleError(ReturnCode.SVR_INNER_ERR, 'failed, by chance');
    if (random.chance(share.timedOut)) throw new ModuleError(ReturnCode.FAIL_BACK_TIMEOUT, 'too late, by chance');
  }
  return outputsOf(step, fields);
}

function die(): void {
  writeSync(process.stderr.fd, 'poison: SIGKILL\n');
  process.kill(process.pid, 'SIGKILL');
}
