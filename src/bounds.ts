/**
 * Limits, timeouts and sizes of the service, with the unit in the name. Relations between them are asserted below at import.
 */
import assert from 'node:assert/strict';

export const bounds = {
  // Rules of the contract (docs/contract.md)
  /** Session lifetime (docs/contract.md#session-lifetime). */
  sessionTtlMs: 4 * 60 * 60 * 1000,
  /** Highest annual percentage rate of an offer (docs/contract.md#eligibility). */
  aprPercentMax: 36,
  /** Age in days at which the revenue of a session counts as final. */
  maturedDays: 45,
  /** Minimum number of sessions for which analytics include a confidence interval. */
  confidenceSessionsMin: 30,

  // HTTP (docs/contract.md#request-bodies, docs/contributing/native-http.md)
  /** Maximum size of the request line and all headers, enough for the longest `sub_id_list`. Larger heads get 431 from the HTTP engine. */
  requestHeadBytesMax: 40 * 1024,
  requestBodyBytesMax: 64 * 1024,
  /** Maximum time from the request head to the reply. After this time, the listener replies 503. */
  requestDeadlineMs: 2_000,
  /** Interval at which the listener checks request deadlines. */
  deadlineCheckIntervalMs: 100,
  /**
   * Maximum time to receive a request head or a request body, and maximum idle time of a connection. uWebSockets.js has the same value
   * built in.
   */
  connectionIdleTimeoutMs: 10_000,
  /** Interval at which the node listener checks `connectionIdleTimeoutMs`. */
  connectionCheckIntervalMs: 1_000,
  /** Maximum number of requests of one connection that wait for replies (node listener). uWebSockets.js accepts one. */
  pipelinedRequestsMax: 16,
  /**
   * Maximum number of reply bytes that clients have not read yet, for all connections of a listener. Above this limit, the listener
   * closes the connection that made no progress for the longest time.
   */
  unsentReplyBytesMax: 24 * 1024 * 1024,
  /** Size of the HTTP engine's buffer for one connection. The buffer counts towards `unsentReplyBytesMax`. */
  engineBufferBytesPerConnection: 16 * 1024,
  /**
   * Mean number of reply bytes between two checks that a client reads its replies (uWebSockets.js). The number is random so that a
   * client cannot avoid the checks.
   */
  bytesBetweenReadChecksMean: 32 * 1024,
  /** Maximum number of requests answered in one turn of the event loop (uWebSockets.js). Further requests wait for the next turn. */
  repliesPerTurnMax: 256,
  /** Default time in which pending requests may complete while the service stops. Then the service closes their connections. */
  drainDeadlineDefaultMs: 5_000,
  drainDeadlineSecondsMax: 600,
  /** Maximum configurable time in which a stopping service still accepts connections. */
  drainDelaySecondsMax: 600,
  /** Maximum time for closing the service after an uncaught exception. Then the process exits. */
  crashCloseTimeoutMs: 2_000,
  /** Maximum size of a certificate file or key file. A certificate chain has about 10 kB. */
  certificateFileBytesMax: 1024 * 1024,
  certificatePollIntervalMs: 1_000,
  /** Delay before a reload after one certificate file changed, because the certificate and the key are written one after the other. */
  certificateReloadDelayMs: 1_000,
  /** Remaining lifetime of the certificate below which the service logs a warning. */
  certificateExpiryWarningMs: 14 * 24 * 60 * 60 * 1000,
  certificateExpiryCheckIntervalMs: 12 * 60 * 60 * 1000,
  /** Maximum length of a list header, such as `Accept`, that the service parses. Browsers send a few hundred characters. */
  headerListCharactersMax: 1_024,
  /** Cache-Control max-age of scripts and logos without a content hash in their URL. */
  staticMaxAgeSeconds: 300,
  /** Cache-Control max-age of files with a content hash in their URL: one year. */
  immutableMaxAgeSeconds: 31_536_000,
  /** Value of the `Retry-After` header in a 503 response. */
  retryAfterSeconds: 1,

  // Process log
  /** Maximum number of log lines per second for each kind of rejected request. */
  refusalLogLinesPerSecond: 5,
  /** Maximum number of log lines that one kind of rejected request can write at once after a quiet period. */
  refusalLogLinesBurst: 20,
  /** Interval at which the number of dropped log lines is logged. */
  refusalLogSummaryIntervalMs: 1_000,
  /** Maximum size of the log lines that the reader of standard error has not read. Further lines are dropped. */
  loggerBufferBytesMax: 4 * 1024 * 1024,
  /** Maximum wait for the reader of standard error at the end of the process. */
  loggerFlushTimeoutMs: 2_000,

  // Sessions (docs/contract.md#sessions)
  userAgentCharactersMax: 1024,
  /** Maximum number of user agents with a cached device class. The cache uses at most about 8 MB. */
  userAgentCacheEntriesMax: 4_096,
  /** Default number of referrer tags per account, vertical and mode. The daily totals of a tag are never deleted. */
  referrerTagLimitDefault: 100_000,
  /** Maximum configurable number of referrer tags. An account with this many tags of maximum length uses 80 MB of memory. */
  referrerTagLimitMax: 1_000_000,
  /** Interval at which a restore of referrer tags that timed out is retried. */
  referrerTagRestorePollMs: 100,
  /** Maximum number of members in the `metadata` of a session. */
  metadataKeysMax: 10,
  /** Maximum length of a key or value in the `metadata` of a session. */
  metadataCharactersMax: 256,
  idempotencyKeyCharactersMax: 255,
  /**
   * Maximum number of stored idempotency keys. A key uses about 120 bytes outside the heap and is stored until its session expires.
   * When the limit is reached, requests with an idempotency key get 503.
   */
  idempotencyKeysMax: 1_000_000,
  /** Maximum number of expired idempotency keys deleted when a new key is stored. The deletion takes a few microseconds. */
  expiredIdempotencyKeysPerInsert: 16,
  /** Maximum size of the JSON text that is hashed to compare the payloads of two requests. */
  idempotencyPayloadBytesMax: 48 * 1024,
  /** Number of shards of the session store. Growing one large hash table would block the event loop for hundreds of milliseconds. */
  sessionStoreShards: 256,
  /** Time in which the service searches every session shard once for expired sessions. Until then, requests already reject them. */
  sessionSweepIntervalMs: 60_000,
  /** Minimum interval between searches of a full store for expired sessions. */
  sessionStoreFullCheckIntervalMs: 100,
  /**
   * Heap size of one live session, including up to 800 bytes of widget counters. The default of SVC_MAX_SESSIONS is derived from
   * this size. A session, its ranking and its idempotency key also use about 570 bytes outside the heap.
   */
  sessionHeapBytes: 2_048,
  /** Default session limit of the embedded API. */
  embeddedSessionLimitDefault: 100_000,

  // Pocket fields (docs/contract.md#pocket-fields)
  fieldsMax: 64,
  fieldNameCharactersMax: 64,
  /** Maximum number of unknown member names that a reply to a test key lists. */
  ignoredNamesShownMax: 64,
  ignoredNameCharactersShown: 64,

  // Offers (docs/contract.md#marketplace-answers)
  offersShownDefault: 5,
  offersShownMax: 20,
  /** Number of offers stored for each sort order. 12 of the best offers can become unavailable before the ranking is recomputed. */
  offersRankedMax: 32,
  /**
   * Maximum number of changed cap states for which the offer total of a cached ranking is updated, which takes about 5 microseconds.
   * After more changes, the ranking is recomputed.
   */
  offersRecountedMax: 64,
  /** Maximum number of offers in a catalog. Offer indices are 16-bit integers. */
  catalogOffersMax: 20_000,
  catalogFileBytesMax: 64 * 1024 * 1024,
  /** Maximum number of JSON values in a catalog file: 200 for each offer of the largest catalog. A generated offer has 80 values. */
  catalogValuesMax: 4_000_000,
  /** Maximum nesting depth of a catalog file. The format needs ten levels. */
  catalogDepthMax: 64,
  /** Maximum length of a catalog list, except lenders and offers. The longest lists contain states and credit bands. */
  catalogListItemsMax: 256,
  catalogObjectMembersMax: 256,
  /** Maximum heap of the thread that compiles a catalog. A catalog with 20,000 generated offers needs 160 MB. */
  catalogThreadHeapMegabytes: 1_024,
  /** Maximum number of errors reported for one catalog file. Further errors are only counted. */
  catalogErrorsReportedMax: 1_000,
  /** Maximum length of a member name in a catalog error message. */
  catalogNameCharactersShown: 80,
  /** Maximum length of a catalog error message. */
  catalogErrorCharactersShown: 400,
  offerIdCharactersMax: 64,
  /** Maximum length of a lender name in Unicode code points. The name can have twice as many UTF-16 code units. */
  lenderNameCodePointsMax: 100,
  catalogVersionCharacters: 12,
  /** Maximum length of the `v` parameter of a click URL. */
  clickTokenCharactersMax: 64,
  payoutUsdMax: 100_000,
  /** Largest daily cap of an offer. */
  dailyCapClicksMax: 100_000_000,
  /** Largest loan amount or credit limit of an offer. */
  offerAmountUsdMax: 100_000_000,
  /** Maximum number of different loan terms in one catalog. A set of terms is stored as the bits of one integer. */
  catalogTermsMax: 24,
  /** Maximum number of compiled catalogs that a matching thread caches. */
  matchWorkerCatalogsMax: 16,
  /** Maximum number of buckets for one range criterion of the match index. Every bucket is a bitmap with one bit per offer. */
  matchIndexBucketsMax: 64,
  /** Maximum size of the match index of one catalog in a matching thread. */
  matchIndexBytesMax: 48 * 1024 * 1024,
  /** Number of offers of a new catalog that are transferred in one event-loop turn (about 1 ms). */
  catalogTransferOffersPerTurn: 250,
  catalogPollIntervalMs: 1_000,
  /**
   * Maximum number of offers in a catalog that is ranked in the main thread. For a small catalog, a message to a matching thread
   * costs more than the ranking (docs/contributing/benchmarks.md).
   */
  matchInThreadOffersMax: 100,
  /** Maximum number of requests queued for the matching threads. Further requests get 503. */
  matchQueueRequestsMax: 4_096,
  matchBatchRequestsMax: 64,
  /** First restart delay of a matching thread that exits without processing a request. Each further restart doubles the delay. */
  matchWorkerRestartDelayMinMs: 100,
  /** Maximum restart delay of a matching thread. It is shorter than the request deadline, so waiting requests can still be answered. */
  matchWorkerRestartDelayMaxMs: 1_000,
  /** Maximum wait for the running batches of the matching threads during a stop. */
  matcherCloseTimeoutMs: 2_000,
  /** Number of offers explained in one event-loop turn, which takes less than a millisecond. */
  explainedOffersPerTurn: 256,
  /** Maximum number of queued requests with `explain`. Further requests with `explain` get 503. */
  explanationQueueMax: 16,
  /** Time for which clicks can still use a replaced catalog (docs/contract.md#replaced-catalogs). */
  replacedCatalogRetentionMs: 28 * 60 * 60 * 1000,
  /** Maximum number of stored replaced catalogs. When it is reached, catalog changes fail until the oldest one expires. */
  replacedCatalogsMax: 256,

  // Logos
  logoFileBytesMax: 64 * 1024,
  /** Maximum number of logo files loaded for one catalog. The remaining lenders get a monogram instead of a logo. */
  logoFilesPerCatalogMax: 2_000,
  /** Maximum nesting depth of the elements in an SVG logo. Browsers have the same limit. */
  logoElementDepthMax: 256,
  /** Maximum number of namespace declarations in an SVG logo. Drawing programs write a dozen on the root element, some on every element. */
  logoNamespaceDeclarationsMax: 1_000,
  logoFileNameCharactersMax: 68,
  /** Maximum number of stored logo file names that no active catalog uses. */
  unusedLogoNamesMax: 1_000,
  /** Number of monograms created in one event-loop turn (about 1 ms). */
  monogramsPerTurn: 250,

  // Clicks (docs/contract.md#click-redirect)
  /** Time after the creation of a session in which its clicks are counted. */
  clickAttributionMs: 24 * 60 * 60 * 1000,
  /** Maximum wait for the log before a click is redirected without a durable record. */
  clickDurabilityTimeoutMs: 500,
  /** Maximum number of recorded clicks of one session on one offer. Further clicks are redirected but not recorded. */
  clicksRecordedPerLinkMax: 10,
  /** Maximum number of recorded clicks of one session on all offers. Further clicks are redirected but not recorded. */
  clicksRecordedPerSessionMax: 64,
  /**
   * Number of one-byte cells in each of the four rows of the sketch, a data structure that counts the clicks of each session of a
   * day. All rows together have 4 MiB.
   */
  sessionClickCells: 1024 * 1024,
  /** Maximum number of click links with a counter of recorded clicks in memory. */
  clickCountersMax: 200_000,
  /**
   * Maximum number of stored pairs of a session and a capped offer, at most 24 bytes each. Above this limit, the pairs of the oldest
   * sessions are dropped. Later clicks of these sessions count towards the daily cap even if they earn no revenue.
   */
  sessionCappedOfferPairsMax: 4_000_000,

  // Widgets (docs/contract.md#widget)
  /** Maximum requests per minute (for offers, or with events) from all widgets of one session. Further requests get 429. */
  widgetRequestsPerMinute: 120,
  /** Maximum number of widget loads of one session that count as views. Further loads still show offers. */
  widgetLoadsPerSessionMax: 256,
  /** Maximum number of widget events in one request. */
  widgetEventsPerBatchMax: 50,
  /** Maximum number of recorded widget events of one session. */
  widgetEventsPerSessionMax: 1_000,
  widgetEventIdCharactersMax: 64,
  /** Maximum number of placeholder cards that a widget shows while offers load. */
  widgetPlaceholderCardsMax: 5,
  /** Number of random bytes in the Content-Security-Policy nonce of the widget page. */
  widgetNonceBytes: 16,
  /** Number of random bytes in the ID of the widget's container element. */
  widgetMountIdBytes: 4,

  // Confirmations (docs/contract.md#confirmations)
  /** Time after a click in which the service accepts its confirmation. */
  confirmationWindowMs: 90 * 24 * 60 * 60 * 1000,
  /** Maximum accepted difference between the clock of the lender and the clock of the service. */
  confirmationClockSkewMs: 5_000,
  /** Maximum confirmed revenue of one session. The square of the revenue in cents is an exact JavaScript number. */
  confirmedRevenueUsdMax: 100_000,
  /** Maximum length of a lender's payout ID. */
  txidCharactersMax: 128,
  confirmationRowsPerRequestMax: 500,
  confirmationBodyBytesMax: 512 * 1024,
  /** Maximum number of queued batches of confirmations. Further batches get 503. */
  confirmationQueueBatchesMax: 16,
  /** Maximum length of one row in a confirmation file. */
  confirmationFileRowCharactersMax: 8 * 1024,
  /** Maximum wait of `marketplace confirm` for the reply to one batch. */
  confirmRequestTimeoutMs: 10_000,
  /** Maximum number of attempts of `marketplace confirm` to send one batch. */
  confirmAttemptsMax: 5,
  /** Delay before the first retry of `marketplace confirm`. */
  confirmRetryDelayMs: 500,

  // Limits (docs/contract.md#rate-limits)
  requestsPerMinuteDefault: 500,
  analyticsPerMinuteDefault: 50,
  sessionsPerDayDefault: 10_000,
  rateLimitWindowMs: 60_000,
  /** Largest configurable requests per minute of an API key. The sliding window stores one number per admitted request. */
  limitPerMinuteMax: 1_000_000,
  limitPerDayMax: 1_000_000_000,

  // Verticals (docs/contract.md#verticals)
  /** Largest number of a vertical. A sub_id stores the number in seven bits. */
  verticalNumberMax: 127,
  verticalSegmentCharactersMax: 64,

  // Keys (docs/contract.md#api-keys)
  apiKeyCharactersMax: 128,
  apiKeyPrefixCharactersMax: 32,
  /** Interval at which the server reloads changed API keys. The command line promises that changes take effect within two seconds. */
  apiKeyPollIntervalMs: 1_000,
  /** Minimum interval between two reloads that requests with an unknown API key trigger. */
  unknownApiKeyPollIntervalMs: 100,
  /** Number of key and origin changes loaded in one event-loop turn, which takes a few milliseconds. */
  apiKeyChangesPerTurn: 500,
  /** Maximum time for which a reload of keys blocks the event loop on a lock. After it, the server uses the keys loaded last. */
  apiKeyReadLockTimeoutMs: 20,
  /** Maximum number of cached key IDs for the log, and of cached account names. Each of the two caches uses a few hundred kB. */
  callerNameCacheEntriesMax: 4_096,
  /** Maximum wait of a command for the lock on the key file. */
  apiKeyCommandLockTimeoutMs: 5_000,
  /** Maximum wait of the server for the write lock on the key file. The wait blocks the event loop. */
  apiKeyServerLockTimeoutMs: 100,
  /** Delay between attempts to switch a new key file to WAL mode. */
  apiKeyWalRetryDelayMs: 5,
  accountNameCharactersMax: 64,
  /** Largest time value of a JavaScript `Date`. */
  timestampMsMax: 8_640_000_000_000_000,
  /** Number of key usage entries that each request checks for removal, which takes a few microseconds. */
  keyUsagesFreedPerRequest: 64,

  // Embed origins
  /** Maximum number of embed origins of one account. A header with all origins at maximum length has about 16 KiB. */
  embedOriginsPerAccountMax: 64,
  originCharactersMax: 255,

  // Analytics (docs/contract.md#analytics)
  subIdListMax: 500,
  analyticsDefaultDays: 30,
  /** Number of days whose matured revenue a summary without requested dates includes. */
  maturedDefaultDays: 180,
  /** Maximum number of lenders that a summary lists. */
  topLendersMax: 20,
  /** Maximum and default number of days or rows on one page of analytics. */
  analyticsPageItemsMax: 100,
  /** Minimum retention in days. Clicks and confirmations cannot change the data of older sessions. */
  retentionDaysMin: 140,
  retentionDaysMax: 36_500,
  /** Interval at which data older than the retention is deleted. */
  retentionCheckIntervalMs: 60 * 60 * 1000,
  /** Delay before a failed deletion is retried. */
  retentionRetryDelayMs: 60 * 1000,
  /** Maximum number of queued queries to the aggregator. Further analytics requests get 503. */
  analyticsQueueQueriesMax: 1_024,
  /** Maximum number of unanswered queries sent to the aggregator. Queued queries are not sent yet and can still be cancelled. */
  analyticsQueriesInFlightMax: 32,
  /** Maximum wait of an analytics query. Queries that wait longer are rejected, because their request deadline has passed. */
  analyticsQueryTimeoutMs: 2_000,

  // Operations
  /** Maximum wait of a scrape for a metric from another thread or the disk. After this time, the scrape omits the metric. */
  scrapeReadTimeoutMs: 250,
  /** Interval at which the event loop delay is measured. */
  loopDelaySampleIntervalMs: 20,
  /** Maximum number of stored log positions from which the analytics lag is computed. */
  analyticsLagSamplesMax: 512,
  /** Initial interval between the log positions for the analytics lag. The interval doubles when there are too many positions. */
  analyticsLagSampleIntervalMs: 100,

  // Configuration
  /** Largest TCP port. */
  portMax: 65_535,
  matcherThreadsMax: 256,
  sessionLimitMax: 1_000_000_000,
  corsOriginsMax: 64,
  /** Maximum number of configured host names that the operations listener accepts. */
  opsAllowedHostsMax: 64,
  /** Maximum length of a setting's value in an error message. */
  settingCharactersShown: 80,

  // Command line
  /** Delay before a command shows its progress bar. Faster commands show none. */
  progressBarDelayMs: 1_000,
  progressBarRedrawIntervalMs: 100,
  /** Interval at which a start without a terminal logs its progress. */
  restoreProgressLogIntervalMs: 5_000,
  /** Default number of records of `log inspect`. */
  logInspectRecordsDefault: 20,

  // Capacity planner
  /** Maximum number of API keys in a capacity plan. */
  plannedKeysMax: 1_000_000_000,
  plannedSloMsMax: 60_000,
  /** Maximum size of a benchmark result file. A full result has a few hundred kB. */
  benchResultFileBytesMax: 64 * 1024 * 1024,
  mixFileBytesMax: 64 * 1024,
  /** Maximum duration of the load that a capacity check generates. */
  capacityCheckSecondsMax: 3_600,
  /** Maximum number of live sessions that a capacity check creates before the load. */
  capacityCheckSessionsMax: 10_000_000,
  /** Maximum number of requests of a capacity check. All requests are prepared in advance and use about 1 kB each. */
  capacityCheckRequestsMax: 2_500_000,

  // Event log
  logSegmentBytesMax: 64 * 1024 * 1024,
  /** Maximum payload of one log record. The record of a session with the largest metadata is much smaller. */
  logRecordBytesMax: 64 * 1024,
  /** Maximum number of elements in a log record, and in an array inside a record. */
  logRecordItemsMax: 64,
  logReadChunkBytes: 1024 * 1024,
  /** Number of records of an open log that are read in one event-loop turn, which takes 1 to 2 ms. */
  logRecordsReadPerTurn: 1_000,
  /** Bytes preallocated after the last record of a log, so that most syncs do not change the file size. */
  logPreallocationBytes: 256 * 1024,
  /** Initial size of the buffer for a group of log records. The buffer grows as needed. */
  logGroupInitialBytes: 64 * 1024,
  /** Interval at which writing to a failed log is retried. */
  logRetryIntervalMs: 1_000,
  /** Maximum delay before records that no caller waits for are written. Analytics queries that need these records wait for them. */
  logLingerMs: 5,
  /** Maximum size of the appended records that are not durable yet. When it is reached, requests get 503. */
  logPendingBytesMax: 16 * 1024 * 1024,
  /** Duration of a journal epoch. An epoch is deleted when all sessions that were changed in it have expired. */
  journalEpochDurationMs: 15 * 60 * 1000,
  /** Interval at which the journal starts new epochs and deletes old ones. */
  journalMaintenanceIntervalMs: 60_000,
  /** Maximum backward step of the wall clock. After a larger step, a start may skip records that it needs. */
  clockSetBackMsMax: 60 * 60 * 1000,
  /** Maximum number of records that the aggregator applies in one transaction. */
  projectionBatchRecordsMax: 8_192,
  /**
   * Time in which the aggregator collects records for one transaction. The transaction starts earlier if a query waits or the batch
   * is full. Under load, a session costs 35.3 us of CPU time in all threads with a delay of 20 ms, and 32.6 us with 250 ms.
   */
  projectionLingerMs: 250,
  /** Maximum number of row IDs of names (tags, offers, lenders) that the aggregator caches. */
  projectionNameCacheEntriesMax: 20_000,
  /** Maximum number of row IDs of sessions that the aggregator caches. */
  projectionSessionCacheEntriesMax: 20_000,
  /** Maximum number of session IDs in one database row of a cohort. Larger rows would need overflow pages. */
  cohortRowSessionsMax: 30,
  /** Maximum number of expired sessions that the aggregator deletes in one transaction, between two batches. */
  sessionsPrunedPerTransaction: 500,
  /**
   * Maximum number of experiments in one reply from the aggregator thread to the main thread during a start. Each reply takes a few
   * milliseconds in both threads.
   */
  experimentsPerPage: 5_000,
  /** Number of 4 KiB pages in the write-ahead log of the analytics store that triggers a checkpoint. */
  analyticsStoreCheckpointPages: 4_000,
  /** Size of the page cache of the analytics store. */
  analyticsStoreCacheKibibytes: 16 * 1024,
  /** Maximum length of a tag, offer ID, lender name or catalog version in the ledger. */
  ledgerNameCharactersMax: 256,
  /** Maximum preliminary revenue of one click. Sums of this revenue fit into 64-bit integers. */
  clickValueMicrosMax: 1_000_000_000_000,
  /** Maximum heap of the aggregator. A batch and the caches need a small part of the heap. */
  aggregatorHeapMegabytes: 256,
  /**
   * Initial delay before an aggregator that exited is restarted. The delay doubles up to the maximum, until the aggregator has applied
   * all records of the ledger.
   */
  aggregatorRestartDelayMinMs: 100,
  aggregatorRestartDelayMaxMs: 5_000,
  /** Maximum wait for the running batch of the aggregator during a stop. */
  aggregatorCloseTimeoutMs: 5_000,
} as const;

// The longest metadata in its longest encoding (4 bytes per code point, escaped) fits into a record.
assert(bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 6 + 1_024 < bounds.logRecordBytesMax);
// The longest metadata as a JSON string (7 bytes per code point, because escapes are escaped again) and the longest user agent fit.
assert(
  bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 7 + bounds.userAgentCharactersMax * 6 + 1_024 <
    bounds.idempotencyPayloadBytesMax,
);
// A sub_id in a query has 68 characters and the separator `%2C`. The rest of the head needs a few hundred bytes.
assert(bounds.subIdListMax * (68 + 3) + 4_096 <= bounds.requestHeadBytesMax);
assert(bounds.offersShownDefault <= bounds.offersShownMax);
// A click token has 42 bytes in base64url. A stored ranking is a whole number of 32-bit words.
assert(Math.ceil(((30 + bounds.catalogVersionCharacters) * 4) / 3) <= bounds.clickTokenCharactersMax);
assert(bounds.clickTokenCharactersMax % 4 === 0 && bounds.offersRankedMax % 2 === 0);
assert(bounds.offersShownMax <= bounds.offersRankedMax && bounds.offersRankedMax < 2 ** 8);
assert(bounds.catalogOffersMax < 2 ** 16);
// Every name and payout of a valid catalog is valid in the ledger. Ledger readers skip records with larger values.
assert(bounds.offerIdCharactersMax <= bounds.ledgerNameCharactersMax);
assert(bounds.lenderNameCodePointsMax * 2 <= bounds.ledgerNameCharactersMax);
assert(bounds.catalogVersionCharacters <= bounds.ledgerNameCharactersMax);
assert(bounds.payoutUsdMax * 1_000_000 <= bounds.clickValueMicrosMax);
// One sort key contains an amount and two rates in hundredths of a percent, and must be an exact integer.
assert(bounds.aprPercentMax * 100 < 2 ** 12 && bounds.offerAmountUsdMax * 2 ** 24 < 2 ** 53);
assert(bounds.catalogTermsMax < 31);
// Offers are sorted by one exact integer: a sort key (revenue is the largest) and the offer index.
assert(bounds.catalogOffersMax <= 2 ** 15 && bounds.payoutUsdMax * 1_000_000 < 2 ** 37);
assert(bounds.offerAmountUsdMax < 2 ** 37);
// No click or confirmation can change a day for at least 30 days before the day is archived.
assert(bounds.clickAttributionMs + bounds.confirmationWindowMs < (bounds.retentionDaysMin - 30) * 24 * 60 * 60 * 1000);
assert(bounds.clickDurabilityTimeoutMs < bounds.requestDeadlineMs);
// The click count of a session is one byte and is stored for two days. Up to 24 bits select a cell.
assert(bounds.clicksRecordedPerSessionMax <= 255 && bounds.clickAttributionMs <= 24 * 60 * 60 * 1000);
assert(Number.isInteger(Math.log2(bounds.sessionClickCells)) && bounds.sessionClickCells <= 2 ** 24);
// A scrape completes before the request deadline even if several metrics time out.
assert(bounds.scrapeReadTimeoutMs * 4 <= bounds.requestDeadlineMs);
// The default drain deadline is longer than the deadline of any request.
assert(bounds.requestDeadlineMs + bounds.deadlineCheckIntervalMs < bounds.drainDeadlineDefaultMs);
assert(bounds.clickAttributionMs + bounds.sessionTtlMs <= bounds.replacedCatalogRetentionMs);
// Every frame length is below 2^24, so that a reader finds the marked frames of the log quickly.
assert(bounds.logRecordBytesMax * 2 <= bounds.logReadChunkBytes && bounds.logRecordBytesMax < 2 ** 24);
assert(bounds.offersShownMax <= bounds.logRecordItemsMax && bounds.widgetEventsPerBatchMax <= bounds.logRecordItemsMax);
// The items of a journal batch are pairs, so their number is even.
assert(bounds.logRecordItemsMax % 2 === 0);
assert(bounds.logRecordBytesMax < bounds.logSegmentBytesMax && bounds.logPendingBytesMax < bounds.logSegmentBytesMax);
// The sum that one batch adds to a counter is an exact number.
assert(bounds.projectionBatchRecordsMax * bounds.clickValueMicrosMax <= Number.MAX_SAFE_INTEGER);
// A batch with the maximum number of confirmation rows of 1 KiB each fits into a request body.
assert(bounds.confirmationRowsPerRequestMax * 1_024 <= bounds.confirmationBodyBytesMax);
// The longest row of a confirmation file fits into a request body after JSON escaping.
assert(bounds.confirmationFileRowCharactersMax * 6 <= bounds.confirmationBodyBytesMax);
assert(bounds.txidCharactersMax <= bounds.ledgerNameCharactersMax);
// The highest payout of a catalog can be confirmed. The square of the revenue of a session in cents is an exact number.
assert(
  bounds.payoutUsdMax <= bounds.confirmedRevenueUsdMax &&
    (bounds.confirmedRevenueUsdMax * 100) ** 2 <= Number.MAX_SAFE_INTEGER,
);
