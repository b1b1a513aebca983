import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from '../part.ts';
import type { BorrowerSession } from '../scenarios/borrowers.ts';
import { createOwnedFolder } from '../target/owned-folder.ts';
import { type ServiceTarget, startServiceTarget } from '../target/service-target.ts';
import { type LiveSessionsOptions, type WrittenSession, writeLiveSessions } from '../target/write-live-sessions.ts';

export interface SeededServiceOptions {
  readonly keys: number;
  /** Live sessions it starts with. */
  readonly sessions: Pick<LiveSessionsOptions, 'count' | 'fields' | 'told'>;
  /** Offers of a generated catalog; the example catalog when absent. */
  readonly catalogOffers?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

export interface SeededService {
  readonly target: ServiceTarget;
  /** Some of its live sessions, spread evenly over all, each with one of the keys. */
  readonly sessions: readonly BorrowerSession[];
  /** For requests; removed with it. */
  readonly folder: string;
}

const sessionsSeed = 23;

/** Runs the service on a history of live sessions for as long as `use` takes. What fails there tells what the service logged. */
export async function withSeededService<Result>(
  { folder: parent, catalog }: Pick<BenchContext, 'folder' | 'catalog'>,
  wanted: SeededServiceOptions,
  use: (service: SeededService) => Promise<Result>,
): Promise<Result> {
  const folder = await createOwnedFolder(parent, 'curve-');
  let target: ServiceTarget | null = null;
  try {
    let written: readonly WrittenSession[] = [];
    const catalogFile = join(folder.path, 'catalog.json');
    if (wanted.catalogOffers !== undefined) await writeFile(catalogFile, catalog(wanted.catalogOffers));
    target = await startServiceTarget({
      folder: folder.path,
      keys: wanted.keys,
      ...(wanted.catalogOffers === undefined ? {} : { catalogFile }),
      ...(wanted.settings === undefined ? {} : { settings: wanted.settings }),
      prepareDataDir: async (dataDir) => {
        written = await writeLiveSessions(dataDir, { ...wanted.sessions, keys: wanted.keys, seed: sessionsSeed });
      },
    });
    const { keys } = target;
    const sessions = written.map((session, at) => ({ ...session, key: keys[at % keys.length]! }));
    return await use({ target, sessions, folder: folder.path });
  } catch (error) {
    if (target === null) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${message}\nThe service said: ${target.logTail()}`, { cause: error });
  } finally {
    await target?.close();
    await folder.remove();
  }
}
