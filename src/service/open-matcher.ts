import type { Closers } from '../closers.ts';
import { describeFault } from '../logs/describe-fault.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { CatalogLibrary } from '../offers/catalog-library.ts';
import type { Matcher } from '../offers/matcher.ts';
import { startMatcher } from '../offers/start-matcher.ts';
import type { ServiceOptions } from './service.ts';
import { verticalsOf } from './verticals-of.ts';

/** Who works out what is offered to whom. */
export async function openMatcher(
  options: ServiceOptions,
  closers: Closers,
  catalogs: CatalogLibrary,
  metrics: Metrics,
): Promise<Matcher> {
  const { logger } = options;
  const matcher = await startMatcher({
    threads: options.matcher.kind === 'in_thread' ? 0 : options.matcher.threads,
    catalogs,
    verticals: verticalsOf(options),
    onFault: (fault) => {
      metrics.matchWorkerFailed();
      logger.error(
        { fault: describeFault(fault) },
        'a matching thread ended and is replaced; what it was at is matched anew',
      );
    },
    onBatch: metrics.matchBatch,
  });
  closers.add(() => matcher.close());
  return matcher;
}
