import process from 'node:process';

import type { KeyVertical } from '../../../auth/key-registry.ts';
import { type KeyLimits, toLimitsJson } from '../../../auth/rate-limits.ts';
import { formatIsoTimestamp } from '../../../domain/calendar.ts';
import { type Clock, systemClock } from '../../../domain/clock.ts';
import { successOutcome } from '../../../domain/outcome.ts';
import { countAnalyticsLagRecords, type GaugeSources, readDiskSpace } from '../../../metrics/gauges.ts';
import { awaitWithinScrapeTimeout } from '../../../metrics/metric-registry.ts';
import { processStartMs } from '../../../metrics/process-metrics.ts';
import type { ClockAdvance } from '../../../operations/advance-clock.ts';
import type { OperatorRequest, OperatorRoute } from './operator-route.ts';

export interface StatusRouteDeps {
  readonly clock: Clock;
  readonly verticals: readonly KeyVertical[];
  /** Returns the reasons why the service is not ready; empty when the service is ready. */
  readonly notReadyReasons: () => readonly string[];
  /** Values of the metrics. */
  readonly gaugeSources: GaugeSources;
  /** Null without a test clock. */
  readonly testClock: Pick<ClockAdvance, 'readTime'> | null;
  /** Rate limits of keys without limits of their own. */
  readonly defaultLimits: KeyLimits;
}

/** Returns the route `GET /status`, which shows the state of the service. */
export function statusRoute(deps: StatusRouteDeps): OperatorRoute {
  return {
    path: '/status',
    name: 'status',
    GET: async (request) => successOutcome(await describeStatus(deps, request)),
  };
}

/** Answer of `GET /status`. */
export type ServiceStatus = Awaited<ReturnType<typeof describeStatus>>;

/** Describes the state of the service. The numbers are values of the metrics. */
async function describeStatus(deps: StatusRouteDeps, { logIncompleteAnswer }: OperatorRequest) {
  const { clock, verticals, notReadyReasons, gaugeSources, testClock, defaultLimits } = deps;
  const { build, gauges, dataDir, logHealthy, certificateStatus: certificate } = gaugeSources;
  const disk = await awaitWithinScrapeTimeout(readDiskSpace(dataDir), (cause) =>
    logIncompleteAnswer({ text: 'space of the disk cannot be read; check the disk of the data folder', cause }),
  );
  const reasons = notReadyReasons();
  return {
    ready: reasons.length === 0,
    reasons,
    version: build.version,
    engine: build.engine,
    node: process.versions.node,
    now: formatIsoTimestamp(clock.wallMs()),
    started_at: formatIsoTimestamp(Math.floor(processStartMs)),
    uptime_seconds: Math.max(0, Math.floor((systemClock.wallMs() - processStartMs) / 1000)),
    verticals: verticals.map(({ segment }) => segment),
    sessions: { live: gauges.marketplace_live_sessions(), limit: gauges.marketplace_live_sessions_max() },
    requests_in_flight: gauges.marketplace_requests_in_flight(),
    keys: gauges.marketplace_api_keys(),
    matching: {
      threads: gauges.marketplace_match_threads(),
      threads_ready: gauges.marketplace_match_threads_ready(),
      pending: gauges.marketplace_matches_pending(),
    },
    ledger: {
      healthy: logHealthy.ledger(),
      appended_position: gauges.marketplace_ledger_appended_position(),
      durable_position: gauges.marketplace_ledger_durable_position(),
    },
    journal: { healthy: logHealthy.journal() },
    analytics: {
      healthy: gauges.marketplace_aggregator_up() === 1,
      applied_position: gauges.marketplace_analytics_applied_position(),
      lag_records: countAnalyticsLagRecords(gauges),
      lag_seconds: gauges.marketplace_analytics_lag_seconds(),
    },
    disk: disk && { free_bytes: disk.freeBytes, size_bytes: disk.sizeBytes },
    certificate: certificate && {
      expires_in_seconds: certificate.secondsUntilExpiry,
      reload_failed: certificate.lastReloadFailed,
    },
    test_clock: testClock?.readTime() ?? null,
    default_limits: toLimitsJson(defaultLimits),
  };
}
