// Loaded before the program of each child (`node --import`). When `start.ts` is gone without having stopped its children,
// they would go on holding ports and data: they end at once, as if killed with it, which is what the engine is built for.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Listening must not keep a child alive whose work is done.
process.channel?.unref();
