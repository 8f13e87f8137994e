import { ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';

/**
 * A return code other than SUCC, with a text for people. Throw one from `process`; the functions below make one for each
 * code, and say what the engine does with it.
 */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
  readonly code: ReturnCode;

  constructor(code: ReturnCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** REQ_PKG_PARAM_INVALID: this item can't be processed, now or later. The run fails as rejected. */
export function rejected(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.REQ_PKG_PARAM_INVALID, message, cause);
}

/** REQ_MUST_PARAM_MISS: something that an earlier step should have brought is absent. The run fails as rejected. */
export function missing(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.REQ_MUST_PARAM_MISS, message, cause);
}

/** SVR_INNER_ERR: this module failed. The engine tries again, as often as the step says. */
export function failed(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.SVR_INNER_ERR, message, cause);
}

/** FAIL_BACK_SVR: a service behind this module failed. The engine tries again, as often as the step says. */
export function backendFailed(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.FAIL_BACK_SVR, message, cause);
}

/** FAIL_BACK_TIMEOUT: a service behind this module didn't answer in time. The engine tries again, as often as the step says. */
export function backendTimedOut(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.FAIL_BACK_TIMEOUT, message, cause);
}

/** SVR_OVER_LOAD: not now, not here. The engine takes another endpoint at once; no try is spent. */
export function overloaded(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.SVR_OVER_LOAD, message, cause);
}

/** OVER_LIMITS: this business calls too often. The engine calls more slowly; no try is spent. */
export function overLimits(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.OVER_LIMITS, message, cause);
}

/** NO_AUTH: this business may not call the module. Its runs wait until a person has seen to it. */
export function notAllowed(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.NO_AUTH, message, cause);
}

/** FATAL_ERROR: trying again would do harm. The run fails at once, with an alarm. */
export function fatal(message: string, cause?: unknown): ModuleError {
  return new ModuleError(ReturnCode.FATAL_ERROR, message, cause);
}
