import { statfs } from 'node:fs/promises';
import process from 'node:process';
import { type MetricRegistry, withinScrapeTimeout } from './metric-registry.ts';
import type { EventLoopMonitor } from './process-metrics.ts';

/** The two logs that groups of records are written to. */
export const logNames = ['ledger', 'journal'] as const;
export type LogName = (typeof logNames)[number];

/**
 * What may happen to a log; `not-tended` to the journal alone, when no new epoch could be begun or no old one removed, and
 * `tended-again` when that worked once more.
 */
export const logIncidentKinds = [
  'tail-cut',
  'segment-abandoned',
  'unavailable',
  'healed',
  'records-lost',
  'not-tended',
  'tended-again',
] as const;
export type LogIncidentKind = (typeof logIncidentKinds)[number];

export interface CatalogStatus {
  readonly vertical: string;
  readonly mode: string;
  readonly version: string;
  readonly offers: number;
  /** Wall time from which it is in use, as this process knows it. */
  readonly activatedMs: number;
  /** Whether the last look at its file found it faulty. */
  readonly reloadFailed: boolean;
}

/** What is read where it is kept, at each scrape. */
export interface GaugeSources {
  readonly build: { readonly version: string; readonly engine: string };
  readonly dataDir: string;
  readonly eventLoop: Pick<EventLoopMonitor, 'delays' | 'utilization'>;
  readonly ready: () => boolean;
  readonly liveSessions: () => number;
  readonly liveSessionsMax: number;
  readonly requestsInFlight: () => number;
  /** Of the public listener; null without TLS. */
  readonly certificateStatus: { readonly secondsUntilExpiry: number; readonly lastReloadFailed: boolean } | null;
  readonly apiKeys: () => number;
  readonly catalogs: () => readonly CatalogStatus[];
  readonly matchThreads: number;
  readonly matchThreadsReady: () => number;
  readonly matchesPending: () => number;
  readonly offersAtDailyCap: () => number;
  readonly logHealthy: Readonly<Record<LogName, () => boolean>>;
  readonly ledgerAppendedPosition: () => number;
  readonly ledgerDurablePosition: () => number;
  readonly analyticsAppliedPosition: () => number;
  /** Seconds for which the oldest record has been durable that the analytics do not count yet. */
  readonly analyticsLagSeconds: () => number;
  readonly aggregatorUp: () => boolean;
  /** Records the analytics counters left out, by why; rejects while the aggregator cannot say. */
  readonly analyticsSkippedRecords: () => Promise<Readonly<Record<string, number>>>;
}

export function registerGauges(figures: MetricRegistry, watched: GaugeSources): void {
  const { build, ledgerDurablePosition, analyticsAppliedPosition, logHealthy } = watched;
  figures.labeledGaugeFrom(
    'marketplace_build_info',
    'What is running, in its labels.',
    ['version', 'engine', 'node'],
    () => [{ labels: { ...build, node: process.versions.node }, value: 1 }],
  );
  figures.gaugeFrom('marketplace_ready', '1 while the service takes requests, as /readyz tells.', () =>
    Number(watched.ready()),
  );
  figures.gaugeFrom(
    'marketplace_live_sessions',
    'Sessions held, expired ones not yet swept included.',
    watched.liveSessions,
  );
  figures.gaugeFrom(
    'marketplace_live_sessions_max',
    'Sessions that may be held; a new one beyond it gets 503.',
    () => watched.liveSessionsMax,
  );
  figures.gaugeFrom(
    'marketplace_requests_in_flight',
    'Requests received and not yet answered.',
    watched.requestsInFlight,
  );
  figures.gaugeFrom(
    'marketplace_api_keys',
    'API keys known: issued and not revoked, expired ones included.',
    watched.apiKeys,
  );
  registerCatalogGauges(figures, watched.catalogs);
  figures.gaugeFrom(
    'marketplace_match_threads',
    'Matching workers; with 0 the main thread matches.',
    () => watched.matchThreads,
  );
  figures.gaugeFrom(
    'marketplace_match_threads_ready',
    'Matching workers that can be given work; fewer while one that died is being replaced.',
    watched.matchThreadsReady,
  );
  figures.gaugeFrom('marketplace_matches_waiting', 'Rankings waiting or under way.', watched.matchesPending);
  figures.gaugeFrom(
    'marketplace_offers_at_daily_cap',
    'Offers left out of answers until UTC midnight, of all catalogs in use.',
    watched.offersAtDailyCap,
  );
  figures.labeledGaugeFrom('marketplace_log_healthy', '1 while the log can be written, by log.', ['log'], () =>
    logNames.map((log) => ({ labels: { log }, value: Number(logHealthy[log]()) })),
  );
  figures.gaugeFrom(
    'marketplace_ledger_appended_position',
    'Records appended to the ledger.',
    watched.ledgerAppendedPosition,
  );
  figures.gaugeFrom(
    'marketplace_ledger_durable_position',
    'Records of the ledger that are durable.',
    ledgerDurablePosition,
  );
  figures.gaugeFrom(
    'marketplace_analytics_folded_position',
    'Records the analytics counters hold.',
    analyticsAppliedPosition,
  );
  figures.gaugeFrom('marketplace_analytics_lag_records', 'Durable records the analytics do not count yet.', () =>
    Math.max(0, ledgerDurablePosition() - analyticsAppliedPosition()),
  );
  figures.gaugeFrom(
    'marketplace_analytics_lag_seconds',
    'Time for which the oldest record has been durable that the analytics do not count yet.',
    watched.analyticsLagSeconds,
  );
  if (watched.certificateStatus !== null) registerCertificateGauges(figures, watched.certificateStatus);
  figures.gaugeFrom('marketplace_aggregator_up', '1 while the aggregator runs.', () => Number(watched.aggregatorUp()));
  registerSkippedRecords(figures, watched.analyticsSkippedRecords);
  registerEventLoopMetrics(figures, watched.eventLoop);
  registerDiskGauges(figures, watched.dataDir);
}

function registerCatalogGauges(figures: MetricRegistry, catalogs: GaugeSources['catalogs']): void {
  figures.labeledGaugeFrom(
    'marketplace_catalog_info',
    'The catalogs in use, in its labels.',
    ['vertical', 'mode', 'version'],
    () => catalogs().map(({ vertical, mode, version }) => ({ labels: { vertical, mode, version }, value: 1 })),
  );
  const ofEach = (name: string, help: string, read: (catalog: CatalogStatus) => number): void =>
    figures.labeledGaugeFrom(name, help, ['vertical', 'mode'], () =>
      catalogs().map((catalog) => ({
        labels: { vertical: catalog.vertical, mode: catalog.mode },
        value: read(catalog),
      })),
    );
  ofEach('marketplace_catalog_offers', 'Offers of the catalog in use.', ({ offers }) => offers);
  ofEach(
    'marketplace_catalog_in_use_since_timestamp_seconds',
    'Since when this process uses the catalog, as Unix time.',
    ({ activatedMs }) => activatedMs / 1000,
  );
  ofEach(
    'marketplace_catalog_faulty',
    '1 while a changed catalog file is not taken because it is faulty.',
    ({ reloadFailed }) => Number(reloadFailed),
  );
}

function registerCertificateGauges(
  figures: MetricRegistry,
  certificate: NonNullable<GaugeSources['certificateStatus']>,
): void {
  figures.gaugeFrom(
    'marketplace_certificate_expiry_seconds',
    'Seconds until the certificate in use expires; negative once it has.',
    () => certificate.secondsUntilExpiry,
  );
  figures.gaugeFrom(
    'marketplace_certificate_faulty',
    '1 while a changed certificate or key is not taken because the pair cannot be used.',
    () => Number(certificate.lastReloadFailed),
  );
}

function registerSkippedRecords(figures: MetricRegistry, read: GaugeSources['analyticsSkippedRecords']): void {
  // What was said last stays while the aggregator is being started again or is held up. One question at a time, however many
  // scrapes there are: it has others to answer.
  let said: Readonly<Record<string, number>> = {};
  let asked: Promise<void> | null = null;
  const ask = async (): Promise<void> => {
    try {
      said = await read();
    } catch {
      // It will be asked again.
    } finally {
      asked = null;
    }
  };
  figures.counterFrom(
    'marketplace_analytics_left_out_total',
    'Records of the ledger that counted nothing, by reason.',
    ['reason'],
    async () => {
      asked ??= ask();
      await withinScrapeTimeout(asked);
      return Object.entries(said).map(([reason, value]) => ({ labels: { reason }, value }));
    },
  );
}

function registerEventLoopMetrics(figures: MetricRegistry, { delays, utilization }: GaugeSources['eventLoop']): void {
  figures.histogramFrom('marketplace_event_loop_delay_seconds', 'How late the main thread came to a timer.', delays);
  figures.counterFrom('marketplace_event_loop_active_seconds_total', 'Time the main thread had work.', [], () => [
    { labels: {}, value: utilization().active / 1000 },
  ]);
  figures.counterFrom('marketplace_event_loop_idle_seconds_total', 'Time the main thread waited for work.', [], () => [
    { labels: {}, value: utilization().idle / 1000 },
  ]);
}

function registerDiskGauges(figures: MetricRegistry, dataDir: string): void {
  const add = (name: string, help: string, blocks: 'bavail' | 'blocks'): void =>
    figures.gaugeFrom(name, help, async () => {
      const disk = await statfs(dataDir);
      return disk[blocks] * disk.bsize;
    });
  add('marketplace_data_disk_free_bytes', 'Room left on the disk of the data folder.', 'bavail');
  add('marketplace_data_disk_size_bytes', 'Size of the disk of the data folder.', 'blocks');
}
