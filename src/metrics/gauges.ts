import { statfs } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { BucketHistogram } from './histogram.ts';
import { awaitWithinScrapeTimeout, type MetricRegistry } from './metric-registry.ts';

export const eventLogNames = ['ledger', 'journal'] as const;
export type EventLogName = (typeof eventLogNames)[number];

/**
 * Kinds of incidents that the event logs report. Only the journal reports `maintenance-failed` (a part of the journal cannot be created or
 * deleted) and `maintenance-recovered`.
 */
export const incidentKinds = [
  'torn-tail-removed',
  'segment-abandoned',
  'unavailable',
  'recovered',
  'records-lost',
  'maintenance-failed',
  'maintenance-recovered',
] as const;
export type EventLogIncidentKind = (typeof incidentKinds)[number];

export interface CatalogStatus {
  readonly vertical: string;
  readonly mode: string;
  readonly version: string;
  readonly offers: number;
  /** Number of offers that are hidden because their figures are too old (docs/contract.md#outdated-offers). */
  readonly outdatedOffers: number;
  /** Time at which this process activated the catalog, in milliseconds since the Unix epoch. */
  readonly activatedMs: number;
  readonly reloadFailed: boolean;
}

/** Help texts of the gauges without labels. */
const gaugeHelp = {
  marketplace_ready: '1 while /readyz replies 200.',
  marketplace_live_sessions: 'Live sessions, including expired ones that are not deleted yet.',
  marketplace_live_sessions_max: 'Maximum number of live sessions; above it, a new session gets 503.',
  marketplace_requests_in_flight: 'Requests received and not yet answered.',
  marketplace_api_keys: 'API keys that are not revoked, including expired ones.',
  marketplace_match_threads: 'Configured matching threads; with 0, the main thread matches.',
  marketplace_match_threads_ready: 'Matching threads that are ready.',
  marketplace_matches_pending: 'Queued and running rankings.',
  marketplace_offers_at_daily_cap:
    'Offers of the active catalogs that are hidden until UTC midnight because of their daily cap.',
  marketplace_offers_at_budget:
    'Offers of the active catalogs that are hidden because their budget of the day or month cannot take one more click.',
  marketplace_offers_paced:
    'Offers of the active catalogs that are hidden for now to spread their budget over the day.',
  marketplace_ledger_appended_position: 'Records appended to the ledger.',
  marketplace_ledger_durable_position: 'Durable records of the ledger.',
  marketplace_analytics_applied_position: 'Ledger records applied to the analytics.',
  marketplace_analytics_lag_seconds:
    'Time since the oldest record that is not applied to the analytics became durable.',
  marketplace_aggregator_up: '1 while the aggregator runs.',
  marketplace_audit_log_healthy: '1 if the last write of the audit log succeeded.',
} as const;

/** Values that `registerGauges` reads from other parts of the service at each scrape. */
export interface GaugeSources {
  readonly build: { readonly version: string; readonly engine: string };
  readonly dataDir: string;
  readonly eventLoopDelays: BucketHistogram;
  readonly gauges: Readonly<Record<keyof typeof gaugeHelp, () => number>>;
  /** Certificate of the public listener; null without TLS. */
  readonly certificateStatus: { readonly secondsUntilExpiry: number; readonly lastReloadFailed: boolean } | null;
  readonly catalogs: () => readonly CatalogStatus[];
  readonly logHealthy: Readonly<Record<EventLogName, () => boolean>>;
  /**
   * Returns the number of ledger records that the analytics skipped, by reason. The returned promise rejects while the analytics aggregator
   * is unavailable.
   */
  readonly analyticsSkippedRecords: () => Promise<Readonly<Record<string, number>>>;
}

/** Registers the metrics whose values are read at each scrape. Call this function once for each registry. */
export function registerGauges(registry: MetricRegistry, sources: GaugeSources): void {
  const { build, gauges, logHealthy, certificateStatus: certificate } = sources;
  for (const name of Object.keys(gaugeHelp) as (keyof typeof gaugeHelp)[]) {
    registry.registerGauge(name, gaugeHelp[name], gauges[name]);
  }
  registry.registerGauge(
    'marketplace_analytics_lag_records',
    'Durable ledger records that are not applied to the analytics yet.',
    () => countAnalyticsLagRecords(gauges),
  );
  registry.registerGauge(
    'marketplace_build_info',
    'Version, HTTP engine and Node.js version, as labels.',
    () => [{ labels: { ...build, node: process.versions.node }, value: 1 }],
    ['version', 'engine', 'node'],
  );
  registry.registerGauge(
    'marketplace_log_healthy',
    '1 while the log can be written, by log.',
    () => eventLogNames.map((log) => ({ labels: { log }, value: Number(logHealthy[log]()) })),
    ['log'],
  );
  registerCatalogGauges(registry, sources.catalogs);
  if (certificate !== null) {
    registry.registerGauge(
      'marketplace_certificate_expires_in_seconds',
      'Seconds until the active certificate expires; negative afterwards.',
      () => certificate.secondsUntilExpiry,
    );
    registry.registerGauge(
      'marketplace_certificate_reload_failed',
      '1 after a reload of the certificate and key failed, until one succeeds.',
      () => Number(certificate.lastReloadFailed),
    );
  }
  registerSkippedRecordCounter(registry, sources.analyticsSkippedRecords);
  registerEventLoopMetrics(registry, sources.eventLoopDelays);
  const freeHelp = 'Free space on the disk of the data folder.';
  registry.registerGauge(
    'marketplace_data_disk_free_bytes',
    freeHelp,
    async () => (await readDiskSpace(sources.dataDir)).freeBytes,
  );
  registry.registerGauge(
    'marketplace_data_disk_size_bytes',
    'Size of the disk of the data folder.',
    async () => (await readDiskSpace(sources.dataDir)).sizeBytes,
  );
}

/** Returns the number of durable ledger records that are not applied to the analytics yet. */
export function countAnalyticsLagRecords(gauges: GaugeSources['gauges']): number {
  return Math.max(0, gauges.marketplace_ledger_durable_position() - gauges.marketplace_analytics_applied_position());
}

/** Reads the free space and the size of the disk of a folder. Rejects if the folder cannot be read. */
export async function readDiskSpace(
  folder: string,
): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

function registerCatalogGauges(registry: MetricRegistry, catalogs: GaugeSources['catalogs']): void {
  registry.registerGauge(
    'marketplace_catalog_info',
    'Active catalogs, as labels.',
    () => catalogs().map(({ vertical, mode, version }) => ({ labels: { vertical, mode, version }, value: 1 })),
    ['vertical', 'mode', 'version'],
  );
  const add = (name: string, help: string, read: (catalog: CatalogStatus) => number): void => {
    const labelsOf = ({ vertical, mode }: CatalogStatus) => ({ vertical, mode });
    const readAll = () => catalogs().map((catalog) => ({ labels: labelsOf(catalog), value: read(catalog) }));
    registry.registerGauge(name, help, readAll, ['vertical', 'mode']);
  };
  add('marketplace_catalog_offers', 'Offers of the active catalog.', ({ offers }) => offers);
  add(
    'marketplace_offers_outdated',
    'Offers of the active catalog that are hidden because their figures are older than max_age_days.',
    ({ outdatedOffers }) => outdatedOffers,
  );
  add(
    'marketplace_catalog_activated_timestamp_seconds',
    'Unix time at which this process activated the catalog.',
    ({ activatedMs }) => activatedMs / 1000,
  );
  add(
    'marketplace_catalog_reload_failed',
    '1 after a reload of the catalog file failed, until one succeeds.',
    ({ reloadFailed }) => Number(reloadFailed),
  );
}

function registerSkippedRecordCounter(registry: MetricRegistry, read: GaugeSources['analyticsSkippedRecords']): void {
  // While the aggregator does not reply, scrapes show its last known counts. Simultaneous scrapes share one query to the aggregator.
  let counts: Readonly<Record<string, number>> = {};
  let query: Promise<void> | null = null;
  const refresh = async (): Promise<void> => {
    try {
      counts = await read();
    } catch {
      // A failed query is ignored, because the next scrape sends a new query.
    } finally {
      query = null;
    }
  };
  registry.registerCounter(
    'marketplace_analytics_skipped_records_total',
    'Ledger records that the analytics skipped, by reason.',
    async () => {
      query ??= refresh();
      await awaitWithinScrapeTimeout(query);
      return Object.entries(counts).map(([reason, value]) => ({ labels: { reason }, value }));
    },
    ['reason'],
  );
}

function registerEventLoopMetrics(registry: MetricRegistry, delays: BucketHistogram): void {
  registry.registerHistogram('marketplace_event_loop_delay_seconds', 'Timer delay of the main thread.', delays);
  for (const [name, help, state] of [
    ['marketplace_event_loop_active_seconds_total', 'Time in which the main thread was active.', 'active'],
    ['marketplace_event_loop_idle_seconds_total', 'Time in which the main thread was idle.', 'idle'],
  ] as const) {
    registry.registerCounter(name, help, () => performance.eventLoopUtilization()[state] / 1000);
  }
}
