// What paths and values every adapter of the configuration takes: no more than the narrowest of them can keep.

/** A path in bytes. */
const maxPathBytes = 512;

/** A value in bytes: twice a flow's version at its largest, which is 1 MiB compiled and 1 MiB of text. */
const maxValueBytes = 4 * 1024 * 1024;

const pathForm = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;

/** Throws a RangeError for what isn't a path: paths are made by code, from names that were checked before. */
export function checkPath(path: string): void {
  if (path.length > maxPathBytes || !pathForm.test(path)) {
    throw new RangeError(
      `not a configuration path (parts of A-Z a-z 0-9 . _ - with / between, ${maxPathBytes} bytes): ${path}`,
    );
  }
}

export function checkValue(path: string, value: Uint8Array): void {
  if (value.length > maxValueBytes) {
    throw new RangeError(`${path} is too large: ${value.length} bytes, allowed are ${maxValueBytes}`);
  }
}

export function isAtOrBelow(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}/`);
}

/** The part of `path` that follows `ancestor`; undefined when it lies elsewhere. */
export function childName(path: string, ancestor: string): string | undefined {
  if (path === ancestor || !isAtOrBelow(path, ancestor)) return undefined;
  return path.slice(ancestor.length + 1).split('/', 1)[0];
}
