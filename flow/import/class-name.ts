// Class names and module names: `VideoDecodeTask` is `video-decode`. Each word begins with a capital; the ending `Task`, which says
// nothing, is left out.

const classForm = /^(?:[A-Z][a-z0-9]*)+Task$/;
const moduleForm = /^[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*$/;

/** The module that a class is; undefined when the class could not be told from the module again. */
export function moduleOfClass(className: string): string | undefined {
  if (!classForm.test(className)) return undefined;
  const words = className.slice(0, -'Task'.length).match(/[A-Z][a-z0-9]*/g) ?? [];
  return words.map((word) => word.toLowerCase()).join('-');
}

/** The class that a module is; undefined when no class gives this module. */
export function classOfModule(module: string): string | undefined {
  if (!moduleForm.test(module)) return undefined;
  const words = module.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `${words.join('')}Task`;
}
