import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
// Imported for its exit handler, which must come before ours: servers first, then the folders they write to.
import './child-process.ts';

const ownedFolders = new Set<string>();

process.on('exit', () => {
  // A server that has just been killed may still be finishing a write, so the removal tries again.
  for (const folder of ownedFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** A folder that never outlives this process. */
export interface OwnedFolder {
  readonly path: string;
  remove(): Promise<void>;
  /** Lets it outlive this process after all, for somebody to look at; `remove` leaves it alone from now on. */
  keep(): void;
}

export async function createOwnedFolder(parent: string, prefix: string): Promise<OwnedFolder> {
  const path = await mkdtemp(join(parent, prefix));
  ownedFolders.add(path);
  return {
    path,
    remove: async () => {
      if (!ownedFolders.has(path)) return;
      await rm(path, { recursive: true, force: true });
      ownedFolders.delete(path);
    },
    keep: () => {
      ownedFolders.delete(path);
    },
  };
}
