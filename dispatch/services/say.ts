// Signal and Complete: what others say to a run that waits for it.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { quoted } from '../../flow/definition/problem.ts';
import { didYouMean } from '../../flow/nearest-name.ts';
import { endingsByCode } from '../../flow/return-code.ts';
import { printableRun } from '../../flow/run-id.ts';
import { isUnderWay } from '../../flow/step-status.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Handlers } from '../../platform/rpc/handlers.ts';
import type { Field } from '../../proto/gen/weir/module/v1/module_pb.js';
import type { FieldCellSchema } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { type ActingPorts, checkActable, findActable, pinnedPlan, postAction } from './actable.ts';
import { checkFields } from './item.ts';
import { noSuchRun } from './run-name.ts';
import { readToken, type Token } from './token.ts';

/** Characters of a message that are kept, as of a module's answer. */
const maxMessageCharacters = 1_024;

export function sayHandlers(ports: ActingPorts): Pick<Handlers<typeof Runs>, 'signal' | 'complete'> {
  return {
    signal: async ({ run: name, name: signal, fields, requestId }) => {
      const { run, control } = await findActable(ports.store, name, 'signal');
      const { signals, name: flow, version } = await pinnedPlan(ports.plans, control, run);
      if (!signals.has(signal)) {
        const known = signals.size === 0 ? ' or any other' : didYouMean(signal, signals.keys());
        const message = `name: flow ${flow} version ${version} waits for no signal ${quoted(signal)}${known}`;
        throw new RpcError(Code.INVALID_ARGUMENT, message);
      }
      const value = { name: signal, fields: fieldCells(fields) };
      return postAction(ports, run, requestId, { case: 'signal', value });
    },
    complete: async ({ token: text, code, message, fields, requestId }) => {
      const token = readToken(text);
      if (!token) {
        const problem = `token: found ${quoted(text)}, allowed is the call key of the request that was taken on`;
        throw new RpcError(Code.INVALID_ARGUMENT, problem);
      }
      const ending = endingsByCode.get(code);
      if (ending === undefined) throw new RpcError(Code.INVALID_ARGUMENT, `code: ${code} is not a return code`);
      if (message.length > maxMessageCharacters) {
        const found = `message: found ${message.length} characters, at most ${maxMessageCharacters} are allowed`;
        throw new RpcError(Code.INVALID_ARGUMENT, found);
      }
      const { step, round } = token;
      const value = { step, round, ending, code, message, fields: fieldCells(fields) };
      await checkAwaited(ports, token);
      return postAction(ports, token.run, requestId, { case: 'completed', value });
    },
  };
}

/** Throws NOT_FOUND for a run, FAILED_PRECONDITION when nobody waits for this answer. */
async function checkAwaited({ store, plans }: ActingPorts, { run, step, round }: Token): Promise<void> {
  const { control } = await checkActable(store, run, 'completed');
  const stored = await store.load(run);
  if (!stored) throw noSuchRun(run);
  const plan = await pinnedPlan(plans, control, run);
  const state = stored.run.steps.get(step);
  const isCallback = plan.byId.get(step)?.action.kind === 'callback';
  if (isCallback && state?.round === round && isUnderWay(state.status)) return;
  const message = `token: step ${quoted(step)} of ${printableRun(run)} doesn't wait for this answer, or not any more`;
  throw new RpcError(Code.FAILED_PRECONDITION, message);
}

function fieldCells(sent: readonly Field[]): Record<string, MessageInitShape<typeof FieldCellSchema>> {
  const fields = checkFields(sent);
  if (!(fields instanceof Map)) throw new RpcError(Code.INVALID_ARGUMENT, `${fields.field}: ${fields.message}`);
  return Object.fromEntries(
    [...fields].map(([name, { bytes, reference }]) => [
      name,
      reference ? { value: bytes, reference } : { value: bytes },
    ]),
  );
}
