import type { CleanupStack } from '../closers.ts';
import { describeError } from '../logs/describe-fault.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { CatalogStore } from '../offers/catalog-library.ts';
import type { Matcher } from '../offers/matcher.ts';
import { startMatcher } from '../offers/start-matcher.ts';
import type { ServiceOptions } from './service.ts';
import { servedVerticals } from './verticals-of.ts';

/** Starts the matcher. */
export async function openMatcher(
  options: ServiceOptions,
  closers: CleanupStack,
  catalogs: CatalogStore,
  metrics: Metrics,
): Promise<Matcher> {
  const { logger } = options;
  const matcher = await startMatcher({
    threads: options.matcher.kind === 'in_thread' ? 0 : options.matcher.threads,
    catalogs,
    verticals: servedVerticals(options),
    onThreadError: (fault) => {
      metrics.countMatchWorkerFailure();
      logger.error({ fault: describeError(fault) }, 'matcher thread died; a new one is being started');
    },
    onThreadReplaced: () => logger.info('matcher thread replaced'),
    onBatchSent: metrics.observeMatchBatch,
  });
  closers.defer(() => matcher.close());
  return matcher;
}
