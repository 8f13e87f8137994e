// The process of orphans.ts: remembers what it is told, and cleans up when whoever told it is gone.

import { rmSync } from 'node:fs';
import type { OrphanNote } from './orphans.ts';

const living = new Set<number>();
const folders = new Set<string>();

process.on('message', (note: OrphanNote) => {
  if ('born' in note) living.add(note.born);
  else if ('gone' in note) living.delete(note.gone);
  else folders.add(note.folder);
});

process.on('disconnect', () => {
  for (const pid of living) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself meanwhile.
    }
  }
  // What they were writing may appear while the folder is being emptied.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});
