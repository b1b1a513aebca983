import type { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { Closers } from '../closers.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Listener } from '../http/listener.ts';
import type { Journal } from '../journal/journal.ts';
import { EventLoopDelay } from '../metrics/event-loop-delay.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Matcher } from '../offers/matcher.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { CertificateKeeper } from '../tls/certificate-keeper.ts';
import type { CatalogWatch } from './catalog-watch.ts';
import type { ServiceOptions } from './service.ts';
import { version } from './version.ts';

/** The pieces of a service that an operator wants to know something of. */
export interface WatchedPieces {
  readonly notReady: () => readonly string[];
  readonly publicListener: Listener;
  /** Of the public listener; null without TLS. */
  readonly certificate: CertificateKeeper | null;
  readonly keysKnown: () => number;
  readonly sessions: Pick<SessionStore, 'size'>;
  readonly catalogWatch: CatalogWatch;
  readonly matcher: Matcher;
  readonly caps: DailyCaps;
  readonly ledger: EventLog;
  readonly journal: Journal;
  readonly analytics: ThreadAnalytics;
}

/** Has scrapes show what is kept in the pieces of the service. */
export function watchFigures(
  { dataDir, sessions: { max }, matcher: choice, clock }: ServiceOptions,
  closers: Closers,
  metrics: Metrics,
  pieces: WatchedPieces,
): void {
  const { publicListener, sessions, matcher, caps, ledger, journal, analytics } = pieces;
  const loopDelay = new EventLoopDelay();
  closers.add(() => loopDelay.close());
  metrics.watch({
    build: { version, engine: publicListener.engine },
    dataDir,
    loopDelay,
    ready: () => pieces.notReady().length === 0,
    liveSessions: () => sessions.size,
    liveSessionsMax: max,
    requestsInFlight: () => publicListener.inFlight,
    certificate: pieces.certificate,
    apiKeys: pieces.keysKnown,
    catalogs: () => pieces.catalogWatch.figures(),
    matchThreads: choice.kind === 'in_thread' ? 0 : choice.threads,
    matchThreadsReady: () => matcher.threadsReady,
    matchesWaiting: () => matcher.waiting,
    offersAtDailyCap: () => caps.closedCount(clock.wallMs()),
    logHealthy: { ledger: () => ledger.healthy, journal: () => journal.healthy },
    ledgerAppended: () => ledger.appendedPosition,
    ledgerDurable: () => ledger.durablePosition,
    analyticsFolded: () => analytics.foldedPosition,
    analyticsLagSeconds: () => analytics.lagMs / 1000,
    aggregatorUp: () => analytics.healthy,
    analyticsLeftOut: async () => {
      const { records: _, ...leftOut } = await analytics.totalsSoFar();
      return leftOut;
    },
  });
}
