/** Opens something of several parts. When a later one can't be opened, those before it are closed, in the reverse order. */
export async function openWhole<Whole>(open: (opened: AsyncDisposableStack) => Promise<Whole>): Promise<Whole> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}
