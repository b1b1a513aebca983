import type { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { Listener } from '../http/engines/listener.ts';
import type { Journal } from '../journal/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Matcher } from '../matching/matcher.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { EventLoopMonitor } from '../metrics/process-metrics.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { CertificateStore } from '../tls/certificate.ts';
import type { CatalogStatusTracker } from './open-catalogs.ts';
import type { ServiceOptions } from './service.ts';
import type { CleanupStack } from './shutdown.ts';
import { version } from './version.ts';

/** The pieces of a service that an operator wants to know something of. */
interface ServiceGaugeSources {
  readonly notReadyReasons: () => readonly string[];
  readonly publicListener: Listener;
  /** Of the public listener; null without TLS. */
  readonly certificate: CertificateStore | null;
  readonly apiKeyCount: () => number;
  readonly sessions: Pick<SessionStore, 'size'>;
  readonly catalogStatus: CatalogStatusTracker;
  readonly matcher: Matcher;
  readonly caps: DailyCaps;
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly analytics: ThreadAnalytics;
}

/** Has scrapes show what is kept in the pieces of the service. */
export function registerServiceGauges(
  { dataDir, sessions: { max }, matcher: choice, clock }: ServiceOptions,
  closers: CleanupStack,
  metrics: Metrics,
  pieces: ServiceGaugeSources,
): void {
  const { publicListener, sessions, matcher, caps, ledger, journal, analytics } = pieces;
  const eventLoop = new EventLoopMonitor();
  closers.defer(() => eventLoop.close());
  metrics.registerGauges({
    build: { version, engine: publicListener.engine },
    dataDir,
    eventLoop,
    ready: () => pieces.notReadyReasons().length === 0,
    liveSessions: () => sessions.size,
    liveSessionsMax: max,
    requestsInFlight: () => publicListener.inFlightCount,
    certificateStatus: pieces.certificate,
    apiKeys: pieces.apiKeyCount,
    catalogs: () => pieces.catalogStatus.statuses(),
    matchThreads: choice.kind === 'in_thread' ? 0 : choice.threads,
    matchThreadsReady: () => matcher.readyThreads,
    matchesPending: () => matcher.pendingCount,
    offersAtDailyCap: () => caps.countUnavailableOffers(clock.wallMs()),
    logHealthy: { ledger: () => ledger.healthy, journal: () => journal.healthy },
    ledgerAppendedPosition: () => ledger.appendedPosition,
    ledgerDurablePosition: () => ledger.durablePosition,
    analyticsAppliedPosition: () => analytics.projectedPosition,
    analyticsLagSeconds: () => analytics.lagMs / 1000,
    aggregatorUp: () => analytics.healthy,
    analyticsSkippedRecords: async () => {
      const { records: _, ...leftOut } = await analytics.getCurrentTotals();
      return leftOut;
    },
  });
}
