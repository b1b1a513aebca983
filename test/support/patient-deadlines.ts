import { bounds } from '../../src/bounds.ts';

// Increases the deadlines of requests, so that no request of a test times out on a busy machine. `RunningMarketplace` imports this module,
// and `ServedProcess` loads it into the server. A test of a deadline sets the deadline itself.
Object.assign(bounds, {
  requestDeadlineMs: 600_000,
  analyticsQueryTimeoutMs: 600_000,
  clickDurabilityTimeoutMs: 600_000,
  scrapeReadTimeoutMs: 600_000,
  catalogComparisonWaitMs: 600_000,
  replacedCatalogWaitMs: 600_000,
});
