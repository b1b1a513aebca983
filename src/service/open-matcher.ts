import type { Closers } from '../closers.ts';
import { describeFault } from '../logs/describe-fault.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { CatalogLibrary } from '../offers/catalog-library.ts';
import type { Matcher } from '../offers/matcher.ts';
import { startMatcher } from '../offers/start-matcher.ts';
import type { ServiceOptions } from './service.ts';
import { verticalsOf } from './verticals-of.ts';

/** Starts the matcher. */
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
      logger.error({ fault: describeFault(fault) }, 'matcher thread died; a new one is being started');
    },
    onReplaced: () => logger.info('matcher thread replaced'),
    onBatch: metrics.matchBatch,
  });
  closers.add(() => matcher.close());
  return matcher;
}
