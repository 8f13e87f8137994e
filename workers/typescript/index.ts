export {
  backendFailed,
  backendTimedOut,
  failed,
  fatal,
  ModuleError,
  missing,
  notAllowed,
  overLimits,
  overloaded,
  rejected,
} from './failure.ts';
export type {
  Call,
  FieldReference,
  FieldSpec,
  FieldSpecs,
  JsonValue,
  ModuleDefinition,
  Request,
  Values,
} from './module.ts';
export { type Answer, withMessage } from './module.ts';
export type { RegisterOptions } from './register-options.ts';
export { type ServedModule, type ServeOptions, serveModule } from './serve.ts';
