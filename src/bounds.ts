/**
 * Limits, timeouts and sizes of the service, with the unit in the name. The assertions at the end of this file check relations
 * between these limits.
 */
import assert from 'node:assert/strict';

export const bounds = {
  // Rules of the contract (docs/contract.md)
  /** Session lifetime (docs/contract.md#session-lifetime). */
  sessionTtlMs: 4 * 60 * 60 * 1000,
  /** Highest annual percentage rate of an offer (docs/contract.md#eligibility). */
  aprPercentMax: 36,
  /** Age of a session, in days, above which analytics count its revenue as final. */
  maturedDays: 45,
  /** Minimum number of sessions for which analytics include a confidence interval. */
  confidenceSessionsMin: 30,

  // HTTP (docs/contract.md#request-bodies, docs/contributing/native-http.md)
  /** Maximum size of the request line and all headers, enough for the longest `sub_id_list`. A larger request head gets status 431. */
  requestHeadBytesMax: 40 * 1024,
  requestBodyBytesMax: 64 * 1024,
  /** Maximum time from the request head to the response. After this time, the listener responds with 503. */
  requestDeadlineMs: 2_000,
  deadlineCheckIntervalMs: 100,
  /** Maximum time to receive a request head or body, and maximum idle time of a connection. uWebSockets.js has the same value built in. */
  connectionIdleTimeoutMs: 10_000,
  /** Interval at which the node listener checks `connectionIdleTimeoutMs`. */
  connectionCheckIntervalMs: 1_000,
  /** Maximum number of waiting requests of one connection (node listener). uWebSockets.js allows one request per connection at a time. */
  pipelinedRequestsMax: 16,
  /**
   * Maximum number of reply bytes that clients have not read yet, for all connections of a listener. Above this limit, the listener
   * closes the connection that made no progress for the longest time.
   */
  unsentReplyBytesMax: 24 * 1024 * 1024,
  /** Size of the HTTP engine's buffer for one connection, which counts towards `unsentReplyBytesMax`. */
  engineBufferBytesPerConnection: 16 * 1024,
  /**
   * Mean number of response bytes between two checks whether a client reads its responses (uWebSockets.js). The actual number of bytes
   * between two checks is random, so that a client cannot avoid the checks.
   */
  bytesBetweenReadChecksMean: 32 * 1024,
  /**
   * Maximum number of requests answered in one turn of the event loop (uWebSockets.js). Further requests wait for the next turn of the
   * event loop.
   */
  repliesPerTurnMax: 256,
  /**
   * Default time in which pending requests may complete while the service stops. After this time, the service closes the connections of
   * pending requests.
   */
  drainDeadlineDefaultMs: 5_000,
  drainDeadlineSecondsMax: 600,
  /** Maximum configurable time in which a stopping service still accepts connections. */
  drainDelaySecondsMax: 600,
  /** Maximum time for closing the service after an uncaught exception. After this time, the process exits. */
  crashCloseTimeoutMs: 2_000,
  /** Maximum size of a certificate file or key file. A certificate chain has about 10 kB. */
  certificateFileBytesMax: 1024 * 1024,
  certificatePollIntervalMs: 1_000,
  /** Delay between a change of the certificate file or key file and the reload, because the two files are written one after the other. */
  certificateReloadDelayMs: 1_000,
  /** Remaining lifetime of the certificate below which the service logs a warning. */
  certificateExpiryWarningMs: 14 * 24 * 60 * 60 * 1000,
  certificateExpiryCheckIntervalMs: 12 * 60 * 60 * 1000,
  /**
   * Maximum length of a header with a comma-separated list, such as `Accept`, that the service parses. An `Accept` header of a browser
   * has at most a few hundred characters.
   */
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
  /** Maximum size of the log lines that wait for a slow reader of standard error. Log lines that do not fit are dropped. */
  loggerBufferBytesMax: 4 * 1024 * 1024,
  /** Maximum time to flush the log to standard error before the process exits. */
  loggerFlushTimeoutMs: 2_000,

  // Sessions (docs/contract.md#sessions)
  userAgentCharactersMax: 1024,
  /** Maximum number of user agents with a cached device class. A full cache uses about 8 MB. */
  userAgentCacheEntriesMax: 4_096,
  /** Default number of referrer tags per account, vertical and mode, limited because a tag's daily totals are never deleted. */
  referrerTagLimitDefault: 100_000,
  /** Maximum configurable number of referrer tags. An account with this many tags of maximum length uses 80 MB of memory. */
  referrerTagLimitMax: 1_000_000,
  /** Delay before the restore of the referrer tags is retried after a timeout. */
  referrerTagRestorePollMs: 100,
  metadataKeysMax: 10,
  /** Maximum length of a key or value in the `metadata` of a session. */
  metadataCharactersMax: 256,
  idempotencyKeyCharactersMax: 255,
  /**
   * Maximum number of stored idempotency keys. Each stored idempotency key uses about 120 bytes outside the heap until its session
   * expires. When this limit is reached, requests with a new idempotency key get 503.
   */
  idempotencyKeysMax: 1_000_000,
  /** Maximum number of expired idempotency keys deleted when a new idempotency key is stored, which takes a few microseconds. */
  expiredIdempotencyKeysPerInsert: 16,
  /** Maximum size of the JSON text that is hashed to compare the payloads of two requests. */
  idempotencyPayloadBytesMax: 48 * 1024,
  /** Number of shards of the session store. Growing one large hash table would block the event loop for hundreds of milliseconds. */
  sessionStoreShards: 256,
  /** Time in which expired sessions are deleted from every shard once. Requests reject an expired session even before its deletion. */
  sessionSweepIntervalMs: 60_000,
  /** Minimum interval between two searches for expired sessions while the session store is full. */
  sessionStoreFullCheckIntervalMs: 100,
  /**
   * Heap size of one live session, including up to 800 bytes of widget counters. The default of SVC_MAX_SESSIONS is derived from this
   * heap size of a session. Outside the heap, a session, its ranking and its idempotency key use about 570 bytes.
   */
  sessionHeapBytes: 2_048,
  embeddedSessionLimitDefault: 100_000,

  // Pocket fields (docs/contract.md#pocket-fields)
  fieldsMax: 64,
  fieldNameCharactersMax: 64,
  /** Maximum number of ignored JSON members that a response to a request with a test key lists. */
  ignoredNamesShownMax: 64,
  ignoredNameCharactersShown: 64,

  // Offers (docs/contract.md#marketplace-answers)
  offersShownDefault: 5,
  offersShownMax: 20,
  /** Number of offers in a cached ranking per sort order. If more than 12 of these offers become unavailable, the ranking is recomputed. */
  offersRankedMax: 32,
  /**
   * Maximum number of offers that may reach or leave their daily cap before a cached ranking is recomputed. If no more offers than this
   * limit changed, only the total number of offers in the ranking is updated, which takes about 5 microseconds.
   */
  offersRecountedMax: 64,
  /** Maximum number of offers in a catalog. Offer indices are 16-bit integers. */
  catalogOffersMax: 20_000,
  catalogFileBytesMax: 64 * 1024 * 1024,
  /** Maximum number of JSON values in a catalog file: 200 for each offer of the largest catalog. A generated test offer has 80 values. */
  catalogValuesMax: 4_000_000,
  /** Maximum nesting depth of a catalog file. The catalog format needs ten levels of nesting. */
  catalogDepthMax: 64,
  /** Maximum length of a JSON array in a catalog, except lenders and offers. The longest arrays list states and credit bands. */
  catalogListItemsMax: 256,
  catalogObjectMembersMax: 256,
  /** Maximum heap of the thread that compiles a catalog. Compiling a catalog with 20,000 generated offers needs 160 MB. */
  catalogThreadHeapMegabytes: 1_024,
  /** Maximum number of errors reported for one catalog file. Errors above this limit are only counted. */
  catalogErrorsReportedMax: 1_000,
  catalogNameCharactersShown: 80,
  catalogErrorCharactersShown: 400,
  offerIdCharactersMax: 64,
  /** Maximum length of a lender name in Unicode code points. A lender name can have twice as many UTF-16 code units as code points. */
  lenderNameCodePointsMax: 100,
  catalogVersionCharacters: 12,
  /** Maximum length of the `v` parameter of a click URL. */
  clickTokenCharactersMax: 64,
  payoutUsdMax: 100_000,
  dailyCapClicksMax: 100_000_000,
  /** Largest loan amount or credit limit of an offer. */
  offerAmountUsdMax: 100_000_000,
  /** Maximum number of different loan terms in one catalog. A set of loan terms is stored as a bitmask in one integer. */
  catalogTermsMax: 24,
  /** Maximum number of compiled catalogs that a matching thread caches. */
  matchWorkerCatalogsMax: 16,
  /** Maximum number of buckets for one range criterion of the match index. Every bucket has a bitmap with one bit per offer. */
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
  /** Maximum number of requests queued for the matching threads. Requests above this limit get 503. */
  matchQueueRequestsMax: 4_096,
  matchBatchRequestsMax: 64,
  /**
   * First delay before the restart of a matching thread that exits without processing a request. The restart delay doubles with each
   * restart.
   */
  matchWorkerRestartDelayMinMs: 100,
  /** Maximum restart delay of a matching thread, shorter than the request deadline so that waiting requests can still be answered. */
  matchWorkerRestartDelayMaxMs: 1_000,
  /** Maximum time to wait for the running batches of the matching threads when the service stops. */
  matcherCloseTimeoutMs: 2_000,
  /** Number of offers explained in one event-loop turn (less than 1 ms). */
  explainedOffersPerTurn: 256,
  /** Maximum number of queued requests with `explain`. Requests with `explain` above this limit get 503. */
  explanationQueueMax: 16,
  /** Time for which clicks can still use a replaced catalog (docs/contract.md#replaced-catalogs). */
  replacedCatalogRetentionMs: 28 * 60 * 60 * 1000,
  /** Maximum number of stored replaced catalogs. At this limit, catalog changes fail until the oldest replaced catalog expires. */
  replacedCatalogsMax: 256,

  // Logos
  logoFileBytesMax: 64 * 1024,
  /** Maximum number of logo files loaded for one catalog. Lenders above this limit get a monogram instead of a logo. */
  logoFilesPerCatalogMax: 2_000,
  /** Maximum nesting depth of the elements in an SVG logo, equal to the limit of browsers. */
  logoElementDepthMax: 256,
  /** Maximum number of namespace declarations in an SVG logo. Drawing programs may write namespace declarations on every SVG element. */
  logoNamespaceDeclarationsMax: 1_000,
  logoFileNameCharactersMax: 68,
  /** Maximum number of stored logo file names that no active catalog uses. */
  unusedLogoNamesMax: 1_000,
  /** Number of monograms created in one event-loop turn (about 1 ms). */
  monogramsPerTurn: 250,

  // Clicks (docs/contract.md#click-redirect)
  /** Time after the creation of a session in which its clicks are counted. */
  clickAttributionMs: 24 * 60 * 60 * 1000,
  /** Maximum time that a click redirect waits for a durable log record of the click. After this time, the redirect is sent anyway. */
  clickDurabilityTimeoutMs: 500,
  /** Maximum number of recorded clicks of one session on one offer. Clicks above this limit are redirected but not recorded. */
  clicksRecordedPerLinkMax: 10,
  /** Maximum number of recorded clicks of one session on all offers. Clicks above this limit are redirected but not recorded. */
  clicksRecordedPerSessionMax: 64,
  /** Number of one-byte cells in each of the four rows of the count-min sketch of the clicks per session of a day: 4 MiB in total. */
  sessionClickCells: 1024 * 1024,
  /** Maximum number of click links whose recorded clicks are counted in memory. */
  clickCountersMax: 200_000,
  /**
   * Maximum number of stored pairs of a session and a capped offer, at most 24 bytes each. Above this limit, the pairs of session and
   * capped offer of the oldest sessions are dropped. After the pairs of a session are dropped, its later clicks count towards the daily
   * cap even if the clicks earn no revenue.
   */
  sessionCappedOfferPairsMax: 4_000_000,

  // Widgets (docs/contract.md#widget)
  /**
   * Maximum number of offer requests and event requests together, per minute, from all widgets of one session. Further requests get 429.
   */
  widgetRequestsPerMinute: 120,
  /** Maximum number of widget loads of one session that count as views. Widget loads above this limit still show offers. */
  widgetLoadsPerSessionMax: 256,
  widgetEventsPerBatchMax: 50,
  widgetEventsPerSessionMax: 1_000,
  widgetEventIdCharactersMax: 64,
  /** Maximum number of placeholder cards that a widget shows while offers load. */
  widgetPlaceholderCardsMax: 5,
  /** Number of random bytes in the Content-Security-Policy nonce of the widget page. */
  widgetNonceBytes: 16,
  /** Number of random bytes in the ID of the widget's container element. */
  widgetMountIdBytes: 4,

  // Confirmations (docs/contract.md#confirmations)
  /** Time after a click in which the service accepts a confirmation of the click's revenue. */
  confirmationWindowMs: 90 * 24 * 60 * 60 * 1000,
  /** Maximum accepted difference between the clock of the lender and the clock of the service. */
  confirmationClockSkewMs: 5_000,
  /** Maximum confirmed revenue of one session. The square of this amount in cents is a safe JavaScript integer. */
  confirmedRevenueUsdMax: 100_000,
  txidCharactersMax: 128,
  confirmationRowsPerRequestMax: 500,
  confirmationBodyBytesMax: 512 * 1024,
  /** Maximum number of queued batches of confirmations. Further batches of confirmations get 503. */
  confirmationQueueBatchesMax: 16,
  /** Maximum length of one row in a confirmation file. */
  confirmationFileRowCharactersMax: 8 * 1024,
  /** Maximum time that `marketplace confirm` waits for the response to one batch. */
  confirmRequestTimeoutMs: 10_000,
  /** Maximum number of times that `marketplace confirm` sends one batch. */
  confirmAttemptsMax: 5,
  /** Delay before the first retry of `marketplace confirm`. */
  confirmRetryDelayMs: 500,

  // Limits (docs/contract.md#rate-limits)
  requestsPerMinuteDefault: 500,
  analyticsPerMinuteDefault: 50,
  sessionsPerDayDefault: 10_000,
  rateLimitWindowMs: 60_000,
  /** Maximum configurable number of requests per minute of an API key. The rate limiter stores one number per admitted request. */
  limitPerMinuteMax: 1_000_000,
  limitPerDayMax: 1_000_000_000,

  // Verticals (docs/contract.md#verticals)
  /** Largest vertical number. A sub_id stores the number of its vertical in seven bits. */
  verticalNumberMax: 127,
  verticalSegmentCharactersMax: 64,

  // Keys (docs/contract.md#api-keys)
  apiKeyCharactersMax: 128,
  apiKeyPrefixCharactersMax: 32,
  /** Interval at which the server reloads changed API keys. A changed API key must take effect within two seconds. */
  apiKeyPollIntervalMs: 1_000,
  /** Minimum interval between two reloads of the API keys that are caused by requests with an unknown API key. */
  unknownApiKeyPollIntervalMs: 100,
  /** Number of changed API keys and origins that are loaded in one event-loop turn (a few milliseconds). */
  apiKeyChangesPerTurn: 500,
  /**
   * Maximum time that a reload of API keys waits for a lock and blocks the event loop. After a timeout, the loaded API keys stay in
   * use.
   */
  apiKeyReadLockTimeoutMs: 20,
  /** Maximum number of entries in the caches of key IDs and account names for the log. Each cache uses a few hundred kB. */
  callerNameCacheEntriesMax: 4_096,
  /** Maximum wait of a command for the lock on the key file. */
  apiKeyCommandLockTimeoutMs: 5_000,
  /** Maximum time that the server waits for the write lock on the key file and blocks the event loop. */
  apiKeyServerLockTimeoutMs: 100,
  /** Delay between attempts to switch a new key file to WAL mode. */
  apiKeyWalRetryDelayMs: 5,
  accountNameCharactersMax: 64,
  /** Largest time value of a JavaScript `Date`. */
  timestampMsMax: 8_640_000_000_000_000,
  /** Maximum number of API keys whose idle rate-limit counters one request searches for and frees, which takes a few microseconds. */
  keyUsagesFreedPerRequest: 64,

  // Embed origins
  /** Maximum number of embed origins of one account. A response header with all origins at maximum length has about 16 KiB. */
  embedOriginsPerAccountMax: 64,
  originCharactersMax: 255,

  // Analytics (docs/contract.md#analytics)
  subIdListMax: 500,
  analyticsDefaultDays: 30,
  /** Default length, in days, of the period whose final revenue an analytics summary reports. */
  maturedDefaultDays: 180,
  topLendersMax: 20,
  /** Maximum and default number of items (days or rows) on one page of analytics. */
  analyticsPageItemsMax: 100,
  /** Minimum retention in days. Clicks and confirmations cannot change the data of sessions that are older than this retention. */
  retentionDaysMin: 140,
  retentionDaysMax: 36_500,
  /** Interval at which data older than the retention is deleted. */
  retentionCheckIntervalMs: 60 * 60 * 1000,
  retentionRetryDelayMs: 60 * 1000,
  /** Maximum number of queued queries to the aggregator thread. Analytics requests above this limit get 503. */
  analyticsQueueQueriesMax: 1_024,
  /** Maximum number of unanswered queries sent to the aggregator thread. Only queries that are not sent yet can be cancelled. */
  analyticsQueriesInFlightMax: 32,
  /** Maximum time that an analytics query waits. After this time, the query is rejected, because its request deadline has passed. */
  analyticsQueryTimeoutMs: 2_000,

  // Operations
  /** Maximum time that a metrics scrape waits for another thread or the disk. After this time, the scrape omits the metric. */
  scrapeReadTimeoutMs: 250,
  loopDelaySampleIntervalMs: 20,
  /** Maximum number of stored log positions from which the analytics lag is computed. */
  analyticsLagSamplesMax: 512,
  /**
   * Initial interval between the log positions that are stored to compute the analytics lag. The interval doubles each time
   * `analyticsLagSamplesMax` log positions are stored.
   */
  analyticsLagSampleIntervalMs: 100,

  // Configuration
  portMax: 65_535,
  matcherThreadsMax: 256,
  sessionLimitMax: 1_000_000_000,
  corsOriginsMax: 64,
  opsAllowedHostsMax: 64,
  /** Maximum number of characters of a setting's value in an error message. */
  settingCharactersShown: 80,

  // Command line
  /** Delay before a command shows its progress bar. A command that ends before this delay shows no progress bar. */
  progressBarDelayMs: 1_000,
  progressBarRedrawIntervalMs: 100,
  /** Interval at which a starting server without a terminal logs its progress. */
  restoreProgressLogIntervalMs: 5_000,
  logInspectRecordsDefault: 20,

  // Capacity planner
  plannedKeysMax: 1_000_000_000,
  plannedSloMsMax: 60_000,
  /** Maximum size of a benchmark result file. The result of a full benchmark has a few hundred kB. */
  benchResultFileBytesMax: 64 * 1024 * 1024,
  mixFileBytesMax: 64 * 1024,
  /** Maximum duration of the load that a capacity check generates. */
  capacityCheckSecondsMax: 3_600,
  /** Maximum number of live sessions that a capacity check creates before the load. */
  capacityCheckSessionsMax: 10_000_000,
  /** Maximum number of requests of a capacity check. A capacity check prepares all requests in advance, at about 1 kB per request. */
  capacityCheckRequestsMax: 2_500_000,

  // Event log
  logSegmentBytesMax: 64 * 1024 * 1024,
  /** Maximum payload of one log record. Even the largest log records, sessions with maximum metadata, are much smaller than this limit. */
  logRecordBytesMax: 64 * 1024,
  /** Maximum number of elements in a log record, and in an array inside a record. */
  logRecordItemsMax: 64,
  logReadChunkBytes: 1024 * 1024,
  /** Number of records of an open log that are read in one event-loop turn (1 to 2 ms). */
  logRecordsReadPerTurn: 1_000,
  /** Number of zero bytes preallocated after the last record of a log, so that most syncs do not change the file size. */
  logPreallocationBytes: 256 * 1024,
  /** Initial size of the buffer for a group of log records. For a larger group of log records, the buffer grows. */
  logGroupInitialBytes: 64 * 1024,
  logRetryIntervalMs: 1_000,
  /**
   * Maximum delay before a write of log records for which no caller waits. An analytics query waits until the log records appended
   * before the query are written.
   */
  logLingerMs: 5,
  /** Maximum size of the appended records that are not durable yet. At this limit, requests that append a record get 503. */
  logPendingBytesMax: 16 * 1024 * 1024,
  /**
   * Duration of one journal epoch (see `FileJournal`). A journal epoch is deleted when all sessions changed in this journal epoch have
   * expired.
   */
  journalEpochDurationMs: 15 * 60 * 1000,
  /** Interval at which the journal creates a new epoch and deletes old epochs if necessary. */
  journalMaintenanceIntervalMs: 60_000,
  /**
   * Maximum backward step of the wall clock that a restart tolerates. After a larger backward step of the wall clock, a restart may
   * skip records of live sessions.
   */
  clockSetBackMsMax: 60 * 60 * 1000,
  /** Maximum number of log records that the aggregator thread applies in one transaction. */
  projectionBatchRecordsMax: 8_192,
  /**
   * Time in which the aggregator thread collects log records for one transaction. The transaction starts earlier if a query waits or the
   * batch is full. Under load, a session costs 35.3 us of CPU time in all threads if this time is 20 ms, and 32.6 us if it is 250 ms.
   */
  projectionLingerMs: 250,
  /** Maximum number of row IDs of names (tags, offers, lenders) that the aggregator thread caches. */
  projectionNameCacheEntriesMax: 20_000,
  /** Maximum number of row IDs of sessions that the aggregator thread caches. */
  projectionSessionCacheEntriesMax: 20_000,
  /** Maximum number of session IDs in one database row. Larger rows would need SQLite overflow pages. */
  cohortRowSessionsMax: 30,
  /** Maximum number of sessions that one transaction of the aggregator thread deletes because they are older than the retention. */
  sessionsPrunedPerTransaction: 500,
  /**
   * Maximum number of experiments in one reply of the aggregator thread. A reply of this size takes the main thread and the aggregator
   * thread a few milliseconds.
   */
  experimentsPerPage: 5_000,
  /** Number of 4 KiB pages in the write-ahead log of the analytics store that triggers a checkpoint. */
  analyticsStoreCheckpointPages: 4_000,
  analyticsStoreCacheKibibytes: 16 * 1024,
  /** Maximum length of a tag, offer ID, lender name or catalog version in the ledger. */
  ledgerNameCharactersMax: 256,
  /** Maximum preliminary revenue of one click, so that sums of this revenue fit into 64-bit integers. */
  clickValueMicrosMax: 1_000_000_000_000,
  /** Maximum heap of the aggregator thread, which needs only a small part of this heap for a batch and its caches. */
  aggregatorHeapMegabytes: 256,
  /**
   * Initial delay before an aggregator thread that exited is restarted. Each further exit of the thread doubles the restart delay up to
   * the maximum, until the aggregator has applied all records of the ledger.
   */
  aggregatorRestartDelayMinMs: 100,
  aggregatorRestartDelayMaxMs: 5_000,
  /** Maximum time to wait for the running batch of the aggregator thread when the service stops. */
  aggregatorCloseTimeoutMs: 5_000,
} as const;

// The longest session metadata (6 bytes per escaped character) fits into a log record.
assert(bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 6 + 1_024 < bounds.logRecordBytesMax);
// The JSON text that is hashed for an Idempotency-Key has room for the longest session metadata and the longest user agent. A metadata
// character needs up to 7 bytes: the 6 bytes of its escape sequence, whose backslash is escaped again.
assert(
  bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 7 + bounds.userAgentCharactersMax * 6 + 1_024 <
    bounds.idempotencyPayloadBytesMax,
);
// Each sub_id in a query has 68 characters and the separator `%2C`. The other parts of the request head need a few hundred bytes.
assert(bounds.subIdListMax * (68 + 3) + 4_096 <= bounds.requestHeadBytesMax);
assert(bounds.offersShownDefault <= bounds.offersShownMax);
// A click token is 42 bytes in base64url. The size of a stored ranking is a multiple of 32 bits.
assert(Math.ceil(((30 + bounds.catalogVersionCharacters) * 4) / 3) <= bounds.clickTokenCharactersMax);
assert(bounds.clickTokenCharactersMax % 4 === 0 && bounds.offersRankedMax % 2 === 0);
assert(bounds.offersShownMax <= bounds.offersRankedMax && bounds.offersRankedMax < 2 ** 8);
assert(bounds.catalogOffersMax < 2 ** 16);
// Every name and payout of a valid catalog is valid in a ledger record. Ledger readers skip records with a longer name or a higher
// payout than the ledger allows.
assert(bounds.offerIdCharactersMax <= bounds.ledgerNameCharactersMax);
assert(bounds.lenderNameCodePointsMax * 2 <= bounds.ledgerNameCharactersMax);
assert(bounds.catalogVersionCharacters <= bounds.ledgerNameCharactersMax);
assert(bounds.payoutUsdMax * 1_000_000 <= bounds.clickValueMicrosMax);
// A sort key contains an amount and two rates in hundredths of a percent, and must be a safe integer.
assert(bounds.aprPercentMax * 100 < 2 ** 12 && bounds.offerAmountUsdMax * 2 ** 24 < 2 ** 53);
assert(bounds.catalogTermsMax < 31);
// Offers are sorted by one safe integer that combines a sort key and the offer index. The largest sort key is the expected revenue.
assert(bounds.catalogOffersMax <= 2 ** 15 && bounds.payoutUsdMax * 1_000_000 < 2 ** 37);
assert(bounds.offerAmountUsdMax < 2 ** 37);
// The data of a day stops changing (no more clicks or confirmations) at least 30 days before the day is archived.
assert(bounds.clickAttributionMs + bounds.confirmationWindowMs < (bounds.retentionDaysMin - 30) * 24 * 60 * 60 * 1000);
assert(bounds.clickDurabilityTimeoutMs < bounds.requestDeadlineMs);
// The click sketch stores the click count of a session in one byte for two days. Up to 24 bits of a hash select a cell of the click sketch.
assert(bounds.clicksRecordedPerSessionMax <= 255 && bounds.clickAttributionMs <= 24 * 60 * 60 * 1000);
assert(Number.isInteger(Math.log2(bounds.sessionClickCells)) && bounds.sessionClickCells <= 2 ** 24);
// A metrics scrape completes before the request deadline even if several metrics time out.
assert(bounds.scrapeReadTimeoutMs * 4 <= bounds.requestDeadlineMs);
// The default drain deadline is longer than the deadline of any request.
assert(bounds.requestDeadlineMs + bounds.deadlineCheckIntervalMs < bounds.drainDeadlineDefaultMs);
assert(bounds.clickAttributionMs + bounds.sessionTtlMs <= bounds.replacedCatalogRetentionMs);
// Every frame length is below 2^24, so that a log reader recognizes a marked frame by its first byte.
assert(bounds.logRecordBytesMax * 2 <= bounds.logReadChunkBytes && bounds.logRecordBytesMax < 2 ** 24);
assert(bounds.offersShownMax <= bounds.logRecordItemsMax && bounds.widgetEventsPerBatchMax <= bounds.logRecordItemsMax);
// A journal batch is an array of pairs, so the maximum number of array items is even.
assert(bounds.logRecordItemsMax % 2 === 0);
assert(bounds.logRecordBytesMax < bounds.logSegmentBytesMax && bounds.logPendingBytesMax < bounds.logSegmentBytesMax);
// The sum of the click values in one aggregator batch is a safe integer.
assert(bounds.projectionBatchRecordsMax * bounds.clickValueMicrosMax <= Number.MAX_SAFE_INTEGER);
// A request body has room for the maximum number of confirmation rows of 1 KiB each.
assert(bounds.confirmationRowsPerRequestMax * 1_024 <= bounds.confirmationBodyBytesMax);
// A request body has room for the longest row of a confirmation file after JSON escaping.
assert(bounds.confirmationFileRowCharactersMax * 6 <= bounds.confirmationBodyBytesMax);
assert(bounds.txidCharactersMax <= bounds.ledgerNameCharactersMax);
// The maximum confirmed revenue of a session is not lower than the highest payout of a catalog. The square of a session's revenue in
// cents is a safe integer.
assert(
  bounds.payoutUsdMax <= bounds.confirmedRevenueUsdMax &&
    (bounds.confirmedRevenueUsdMax * 100) ** 2 <= Number.MAX_SAFE_INTEGER,
);
