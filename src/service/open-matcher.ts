import type { Closers } from '../closers.ts';
import type { CatalogLibrary } from '../offers/catalog-library.ts';
import type { Matcher } from '../offers/matcher.ts';
import { startMatcher } from '../offers/start-matcher.ts';
import type { Repairs } from './repairs.ts';
import { servedVerticals } from './served-verticals.ts';
import type { ServiceOptions } from './service.ts';

/** Who works out what is offered to whom. */
export async function openMatcher(
  options: ServiceOptions,
  closers: Closers,
  catalogs: CatalogLibrary,
  repairs: Repairs,
): Promise<Matcher> {
  const { logger } = options;
  const matcher = await startMatcher({
    threads: options.matcher.kind === 'in_thread' ? 0 : options.matcher.threads,
    catalogs,
    verticals: servedVerticals(options),
    onFault: (fault) => {
      repairs.matcherFaults += 1;
      logger.error({ err: fault }, 'a matching worker failed; its requests are matched anew');
    },
  });
  closers.add(() => matcher.close());
  return matcher;
}
