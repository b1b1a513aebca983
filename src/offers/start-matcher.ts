import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogLibrary } from './catalog-library.ts';
import { InThreadMatcher } from './in-thread-matcher.ts';
import type { Matcher } from './matcher.ts';
import { PoolMatcher } from './pool-matcher.ts';

export interface StartMatcherOptions {
  /** Matching worker threads; 0 matches in the calling thread. */
  readonly threads: number;
  readonly catalogs: CatalogLibrary;
  /** The verticals of those catalogs. */
  readonly verticals: readonly Vertical[];
  /** A worker died or could not start: for the log. */
  readonly onFault?: (fault: unknown) => void;
}

/** Starts the matcher of a service, with every catalog in use ready in all of its threads; later ones are made ready before use. */
export async function startMatcher({ threads, catalogs, verticals, onFault }: StartMatcherOptions): Promise<Matcher> {
  if (threads === 0) return new InThreadMatcher(catalogs);
  const matcher = new PoolMatcher({
    threads,
    archiveFolder: catalogs.archive.folder,
    verticals,
    ...(onFault === undefined ? {} : { onFault }),
  });
  try {
    for (const compiled of catalogs.inUse) await matcher.prepare(compiled);
  } catch (fault) {
    await matcher.close();
    throw fault;
  }
  catalogs.beforeUse((compiled) => matcher.prepare(compiled));
  return matcher;
}
