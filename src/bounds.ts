/**
 * Limits, timeouts and sizes of the service. The name of each constant contains its unit. The assertions at the end of this file check
 * relations between the constants.
 */
import assert from 'node:assert/strict';

export const bounds = {
  // General limits from docs/contract.md
  /** Session lifetime (docs/contract.md#session-lifetime). */
  sessionTtlMs: 4 * 60 * 60 * 1000,
  /** Highest annual percentage rate of an offer (docs/contract.md#eligibility). */
  aprPercentMax: 36,
  /** Analytics count the revenue of a session as final if the session is older than this number of days. */
  maturedDays: 45,
  /** Minimum number of sessions for which analytics include a confidence interval. */
  confidenceSessionsMin: 30,

  // HTTP (docs/contract.md#request-bodies, docs/contributing/native-http.md)
  /** Maximum size of the request line and all headers, enough for the longest `sub_id_list`. The listener rejects larger heads with 431. */
  requestHeadBytesMax: 40 * 1024,
  requestBodyBytesMax: 64 * 1024,
  /** Maximum time from the receipt of a request head to the response. A request that takes longer gets 503. */
  requestDeadlineMs: 2_000,
  deadlineCheckIntervalMs: 100,
  /** Maximum time to receive a request head or body, and maximum idle time of a connection; equal to the fixed limit of uWebSockets.js. */
  connectionIdleTimeoutMs: 10_000,
  /** Interval at which the node listener checks `connectionIdleTimeoutMs`. */
  connectionCheckIntervalMs: 1_000,
  /** Maximum number of waiting requests per connection of the node listener; the uWebSockets.js listener allows one request at a time. */
  pipelinedRequestsMax: 16,
  /**
   * Maximum total size of the replies that the clients of a listener have not read yet. If the unread replies become larger, the listener
   * closes the connection that has made no progress for the longest time.
   */
  unsentReplyBytesMax: 24 * 1024 * 1024,
  /** Size of the HTTP engine's buffer for one connection. The buffer counts towards `unsentReplyBytesMax`. */
  engineBufferBytesPerConnection: 16 * 1024,
  /**
   * Average number of response bytes after which the uWebSockets.js listener checks whether a client reads its responses. The number of
   * response bytes between two of these checks is random, so that a client cannot predict the next check.
   */
  bytesBetweenReadChecksMean: 32 * 1024,
  /**
   * Maximum number of requests that the uWebSockets.js listener answers in one turn of the event loop. Received requests above this maximum
   * wait for the next turn of the event loop.
   */
  repliesPerTurnMax: 256,
  /**
   * Default for the maximum time that a stopping service waits for pending requests. After the drain deadline, the service closes the
   * connections of pending requests.
   */
  drainDeadlineDefaultMs: 5_000,
  drainDeadlineSecondsMax: 600,
  /** Maximum configurable delay before a stopping service refuses new connections. */
  drainDelaySecondsMax: 600,
  /** Time after an uncaught exception at which the process exits even if the service is not closed yet. */
  crashCloseTimeoutMs: 2_000,
  /** Maximum size of a certificate file or key file. A certificate chain has about 10 kB. */
  certificateFileBytesMax: 1024 * 1024,
  certificatePollIntervalMs: 1_000,
  /** Delay between a change of the certificate file or key file and the reload, so that both files are written before the reload. */
  certificateReloadDelayMs: 1_000,
  /** Remaining lifetime of the certificate below which the service logs a warning. */
  certificateExpiryWarningMs: 14 * 24 * 60 * 60 * 1000,
  certificateExpiryCheckIntervalMs: 12 * 60 * 60 * 1000,
  /**
   * Maximum length of a header that the service parses as a comma-separated list, such as `Accept`. An `Accept` header of a browser has at
   * most a few hundred characters.
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
  /** Maximum burst of log lines for each kind of rejected request. */
  refusalLogLinesBurst: 20,
  /** Interval at which the number of dropped log lines is logged. */
  refusalLogSummaryIntervalMs: 1_000,
  /** Maximum size of the log lines that wait for a slow reader of standard error. If the buffer is full, new log lines are dropped. */
  loggerBufferBytesMax: 4 * 1024 * 1024,
  /** Maximum time to flush the log to standard error before the process exits. */
  loggerFlushTimeoutMs: 2_000,

  // Sessions (docs/contract.md#sessions)
  userAgentCharactersMax: 1024,
  /** Maximum number of user agents with a cached device class. A full cache of device classes uses about 8 MB. */
  userAgentCacheEntriesMax: 4_096,
  /** Default limit of referrer tags per account, vertical and mode. The daily totals of a tag are never deleted. */
  referrerTagLimitDefault: 100_000,
  /** Maximum configurable number of referrer tags. A million tags of maximum length use 80 MB of memory. */
  referrerTagLimitMax: 1_000_000,
  /** Delay before the service tries again to restore the referrer tags after a timeout. */
  referrerTagRestorePollMs: 100,
  metadataKeysMax: 10,
  /** Maximum length of a key or value in the `metadata` of a session. */
  metadataCharactersMax: 256,
  idempotencyKeyCharactersMax: 255,
  /**
   * Maximum number of stored idempotency keys. Each stored idempotency key uses about 120 bytes outside the heap until the session of the
   * key expires. When this maximum is reached, requests with a new idempotency key get 503.
   */
  idempotencyKeysMax: 1_000_000,
  /** Maximum number of expired idempotency keys that are deleted (in a few microseconds) when a new idempotency key is stored. */
  expiredIdempotencyKeysPerInsert: 16,
  /** Maximum size of the JSON text that is hashed to compare the payloads of two requests. */
  idempotencyPayloadBytesMax: 48 * 1024,
  /** Number of shards of the session store. Growing one large hash table would block the event loop for hundreds of milliseconds. */
  sessionStoreShards: 256,
  /** Interval at which expired sessions are deleted from each shard. Requests reject an expired session even before its deletion. */
  sessionSweepIntervalMs: 60_000,
  /** Minimum interval between two searches for expired sessions while the session store is full. */
  sessionStoreFullCheckIntervalMs: 100,
  /**
   * Heap size of one live session, including up to 800 bytes of widget counters. The default of SVC_MAX_SESSIONS is computed from
   * `sessionHeapBytes`. Outside the heap, a session, its ranking and its idempotency key use about 570 bytes.
   */
  sessionHeapBytes: 2_048,
  embeddedSessionLimitDefault: 100_000,

  // Pocket fields (docs/contract.md#pocket-fields)
  fieldsMax: 64,
  fieldNameCharactersMax: 64,
  /** Maximum number of ignored JSON members that are listed in the response to a request with a test key. */
  ignoredNamesShownMax: 64,
  ignoredNameCharactersShown: 64,

  // Offers (docs/contract.md#marketplace-answers)
  offersShownDefault: 5,
  offersShownMax: 20,
  /** Number of offers per sort order in a cached ranking. The ranking is recomputed when more than 12 of the offers are unavailable. */
  offersRankedMax: 32,
  /**
   * Maximum number of offers that may reach their daily cap or become available again before a cached ranking is recomputed. If at most
   * this number of offers changed, only the total number of offers in the ranking is updated, which takes about 5 microseconds.
   */
  offersRecountedMax: 64,
  /** Maximum number of offers in a catalog. Offer indices are 16-bit integers. */
  catalogOffersMax: 20_000,
  catalogFileBytesMax: 64 * 1024 * 1024,
  /** Maximum number of JSON values in a catalog file: 200 for each offer of the largest catalog. A generated test offer has 80 values. */
  catalogValuesMax: 4_000_000,
  /** Maximum nesting depth of a catalog file. The catalog format needs ten levels of nesting. */
  catalogDepthMax: 64,
  /** Maximum length of a JSON array in a catalog, except lenders and offers. The longest arrays are lists of states and of credit bands. */
  catalogListItemsMax: 256,
  catalogObjectMembersMax: 256,
  /** Maximum heap of the thread that compiles a catalog. Compiling a catalog with 20,000 generated offers needs 160 MB. */
  catalogThreadHeapMegabytes: 1_024,
  /** Maximum number of errors reported for one catalog file. Further errors of the catalog file are only counted. */
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
  /** Number of offers of a new catalog that a thread sends to another thread in one event-loop turn (about 1 ms). */
  catalogTransferOffersPerTurn: 250,
  catalogPollIntervalMs: 1_000,
  /**
   * Maximum number of offers in a catalog that is ranked in the main thread. For a small catalog, a message to a matching thread takes more
   * time than the ranking (docs/contributing/benchmarks.md).
   */
  matchInThreadOffersMax: 100,
  /** Maximum number of requests queued for the matching threads. If the queue is full, new requests get 503. */
  matchQueueRequestsMax: 4_096,
  matchBatchRequestsMax: 64,
  /**
   * Delay before the first restart of a matching thread that exited without processing a request. Each further restart doubles the restart
   * delay.
   */
  matchWorkerRestartDelayMinMs: 100,
  /** Maximum restart delay of a matching thread, shorter than the request deadline so that waiting requests can still be answered. */
  matchWorkerRestartDelayMaxMs: 1_000,
  /** Maximum time to wait for the running batches of the matching threads when the service stops. */
  matcherCloseTimeoutMs: 2_000,
  /** Number of offers explained in one event-loop turn (less than 1 ms). */
  explainedOffersPerTurn: 256,
  /** Maximum number of queued requests with `explain`. If the queue is full, new requests with `explain` get 503. */
  explanationQueueMax: 16,
  /** Time after the replacement of a catalog in which clicks can still use the catalog (docs/contract.md#replaced-catalogs). */
  replacedCatalogRetentionMs: 28 * 60 * 60 * 1000,
  /** Maximum number of stored replaced catalogs. At the maximum, catalog changes fail until the oldest replaced catalog expires. */
  replacedCatalogsMax: 256,

  // Logos
  logoFileBytesMax: 64 * 1024,
  /** Maximum number of logo files loaded for one catalog. The remaining lenders of the catalog get a monogram instead of a logo. */
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
  /**
   * Maximum time that a click redirect waits for a durable log record. After a timeout, the redirect is sent although the record is not
   * durable.
   */
  clickDurabilityTimeoutMs: 500,
  /** Maximum number of recorded clicks of one session on one offer. Clicks above this maximum are redirected but not recorded. */
  clicksRecordedPerLinkMax: 10,
  /** Maximum number of recorded clicks of one session on all offers. Clicks above this maximum are redirected but not recorded. */
  clicksRecordedPerSessionMax: 64,
  /** Number of one-byte cells per row of the count-min sketch that counts clicks per session. The four rows of a day take 4 MiB. */
  sessionClickCells: 1024 * 1024,
  /** Maximum number of click links whose recorded clicks are counted in memory. */
  clickCountersMax: 200_000,
  /**
   * Maximum number of stored pairs of a session and an offer with a daily cap, at most 24 bytes each. If this maximum is exceeded, the
   * pairs of the oldest sessions are dropped. Later clicks of a session whose pairs were dropped count towards the daily cap even if the
   * clicks book no revenue.
   */
  sessionCappedOfferPairsMax: 4_000_000,

  // Widgets (docs/contract.md#widget)
  /** Maximum number of requests (for offers or with events) per minute from all widgets of a session. Further widget requests get 429. */
  widgetRequestsPerMinute: 120,
  /** Maximum number of widget loads per session that are counted as views. Widget loads above this maximum still show offers. */
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
  /** Maximum confirmed revenue of one session. The square of the maximum, in cents, is a safe JavaScript integer. */
  confirmedRevenueUsdMax: 100_000,
  txidCharactersMax: 128,
  confirmationRowsPerRequestMax: 500,
  confirmationBodyBytesMax: 512 * 1024,
  /** Maximum number of queued batches of confirmations. If the queue is full, new batches of confirmations get 503. */
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
   * Maximum time that a reload of API keys waits for a lock on the key file. While the reload waits, the event loop is blocked. After a
   * timeout, the service keeps the API keys that it loaded earlier.
   */
  apiKeyReadLockTimeoutMs: 20,
  /** Maximum number of entries in the caches of key IDs and account names for the log. Each of the two caches uses a few hundred kB. */
  callerNameCacheEntriesMax: 4_096,
  /** Maximum time that a command waits for the lock on the key file. */
  apiKeyCommandLockTimeoutMs: 5_000,
  /** Maximum time that the server waits for the write lock on the key file. The event loop is blocked while the server waits. */
  apiKeyServerLockTimeoutMs: 100,
  /** Delay between attempts to switch a new key file to WAL mode. */
  apiKeyWalRetryDelayMs: 5,
  accountNameCharactersMax: 64,
  /** Largest time value of a JavaScript `Date`. */
  timestampMsMax: 8_640_000_000_000_000,
  /** Maximum number of API keys that one request checks (in a few microseconds) for unused rate-limit counters to delete. */
  keyUsagesFreedPerRequest: 64,

  // Embed origins
  /** Maximum number of embed origins of one account. A response header with 64 origins of 255 characters has about 16 KiB. */
  embedOriginsPerAccountMax: 64,
  originCharactersMax: 255,

  // Analytics (docs/contract.md#analytics)
  subIdListMax: 500,
  analyticsDefaultDays: 30,
  /** Number of days before today from which an analytics summary reports final revenue if the query contains no dates. */
  maturedDefaultDays: 180,
  topLendersMax: 20,
  /** Maximum and default number of items (days or rows) on one page of analytics. */
  analyticsPageItemsMax: 100,
  /** Minimum retention in days. Clicks and confirmations can no longer change the data of a session that is 140 days old. */
  retentionDaysMin: 140,
  retentionDaysMax: 36_500,
  /** Interval at which the service deletes data that is older than the retention. */
  retentionCheckIntervalMs: 60 * 60 * 1000,
  retentionRetryDelayMs: 60 * 1000,
  /** Maximum number of queued queries to the aggregator thread. If the queue is full, new analytics requests get 503. */
  analyticsQueueQueriesMax: 1_024,
  /** Maximum number of queries that are sent to the aggregator thread and not answered yet. A query that was sent cannot be cancelled. */
  analyticsQueriesInFlightMax: 32,
  /** Time after which a waiting analytics query is rejected, because the deadline of its HTTP request has passed. */
  analyticsQueryTimeoutMs: 2_000,

  // Operations
  /** Maximum time that a metrics scrape waits for another thread or the disk. If the value arrives later, the scrape omits the metric. */
  scrapeReadTimeoutMs: 250,
  loopDelaySampleIntervalMs: 20,
  /** Maximum number of log positions that are stored to compute the analytics lag. */
  analyticsLagSamplesMax: 512,
  /**
   * Initial time between two log positions that are stored to compute the analytics lag. The time doubles whenever `analyticsLagSamplesMax`
   * log positions are stored.
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
  /** Delay before a command shows its progress bar. A command that ends within a second shows no progress bar. */
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
  /** Maximum duration of the load in a capacity check. */
  capacityCheckSecondsMax: 3_600,
  /** Maximum number of live sessions that a capacity check creates before the load. */
  capacityCheckSessionsMax: 10_000_000,
  /** Maximum number of requests of a capacity check. A capacity check prepares all requests in advance, at about 1 kB per request. */
  capacityCheckRequestsMax: 2_500_000,

  // Event log
  logSegmentBytesMax: 64 * 1024 * 1024,
  /** Maximum payload of one log record. The largest log records (sessions with maximum metadata) are much smaller than 64 KiB. */
  logRecordBytesMax: 64 * 1024,
  /** Maximum number of elements in a log record, and in an array inside a record. */
  logRecordItemsMax: 64,
  logReadChunkBytes: 1024 * 1024,
  /** Number of records of an open log that are read in one event-loop turn (1 to 2 ms). */
  logRecordsReadPerTurn: 1_000,
  /** Number of zero bytes preallocated after the last record of a log, so that most syncs do not change the file size. */
  logPreallocationBytes: 256 * 1024,
  /** Initial size of the buffer for a group of log records. The buffer grows if a group of log records does not fit. */
  logGroupInitialBytes: 64 * 1024,
  logRetryIntervalMs: 1_000,
  /**
   * Maximum delay before the log writes records for which no caller waits. An analytics query waits until all log records that were
   * appended before the query are written.
   */
  logLingerMs: 5,
  /** Maximum total size of the appended records that are not durable yet. At this size, requests that append a record get 503. */
  logPendingBytesMax: 16 * 1024 * 1024,
  /**
   * Time after which the journal continues in a new log (see `FileJournal`). The journal deletes a log when all sessions with changes in
   * the log have expired.
   */
  journalRotationIntervalMs: 15 * 60 * 1000,
  /** Interval at which the journal checks whether to create a new journal log or delete old journal logs. */
  journalMaintenanceIntervalMs: 60_000,
  /**
   * Maximum time by which the wall clock may be set back before a restart. If the wall clock was set back by more than an hour, a restart
   * may skip records of live sessions.
   */
  clockSetBackMsMax: 60 * 60 * 1000,
  /** Maximum number of log records that the aggregator thread applies in one transaction. */
  projectionBatchRecordsMax: 8_192,
  /**
   * Maximum time in which the aggregator thread collects log records for one transaction. A transaction starts earlier if a query waits or
   * the batch of log records is full. Under load, a session costs 35.3 us of CPU time in all threads if log records are collected for 20
   * ms, and 32.6 us if log records are collected for 250 ms.
   */
  projectionLingerMs: 250,
  /** Maximum number of names (tags, offers, lenders) whose row IDs the aggregator thread caches. */
  projectionNameCacheEntriesMax: 20_000,
  /** Maximum number of sessions whose row IDs the aggregator thread caches. */
  projectionSessionCacheEntriesMax: 20_000,
  /** Maximum number of session IDs in one database row. A row with more session IDs would need SQLite overflow pages. */
  cohortRowSessionsMax: 30,
  /** Maximum number of sessions older than the retention that the aggregator thread deletes in one transaction. */
  sessionsPrunedPerTransaction: 500,
  /**
   * Maximum number of experiments in one reply of the aggregator thread. The main thread and the aggregator thread need a few milliseconds
   * for a reply with 5,000 experiments.
   */
  experimentsPerPage: 5_000,
  /** Size of the analytics store's write-ahead log, in pages of 4 KiB, at which a checkpoint starts. */
  analyticsStoreCheckpointPages: 4_000,
  analyticsStoreCacheKibibytes: 16 * 1024,
  /** Maximum length of a tag, offer ID, lender name or catalog version in the ledger. */
  ledgerNameCharactersMax: 256,
  /** Maximum preliminary revenue of one click, so that sums over many clicks fit into 64-bit integers. */
  clickValueMicrosMax: 1_000_000_000_000,
  /** Maximum heap of the aggregator thread. A batch of log records and the caches need only a small part of the heap. */
  aggregatorHeapMegabytes: 256,
  /**
   * Delay before the aggregator thread is restarted after its first exit. Each further exit of the thread doubles the restart delay, up to
   * the maximum. If the thread made progress before it exited, the restart delay starts at the minimum again.
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
// Offers are sorted by one safe integer that combines a sort key and the offer index. The sort key with the largest values is the expected
// revenue.
assert(bounds.catalogOffersMax <= 2 ** 15 && bounds.payoutUsdMax * 1_000_000 < 2 ** 37);
assert(bounds.offerAmountUsdMax < 2 ** 37);
// The last click or confirmation that can change the data of a day comes at least 30 days before the day is archived.
assert(bounds.clickAttributionMs + bounds.confirmationWindowMs < (bounds.retentionDaysMin - 30) * 24 * 60 * 60 * 1000);
assert(bounds.clickDurabilityTimeoutMs < bounds.requestDeadlineMs);
// The count-min sketch stores a session's click count in one byte for two days. Up to 24 bits of a hash select a cell of the sketch.
assert(bounds.clicksRecordedPerSessionMax <= 255 && bounds.clickAttributionMs <= 24 * 60 * 60 * 1000);
assert(Number.isInteger(Math.log2(bounds.sessionClickCells)) && bounds.sessionClickCells <= 2 ** 24);
// A metrics scrape completes before the request deadline even if several metrics time out.
assert(bounds.scrapeReadTimeoutMs * 4 <= bounds.requestDeadlineMs);
// The default drain deadline is longer than the deadline of any request.
assert(bounds.requestDeadlineMs + bounds.deadlineCheckIntervalMs < bounds.drainDeadlineDefaultMs);
assert(bounds.clickAttributionMs + bounds.sessionTtlMs <= bounds.replacedCatalogRetentionMs);
// The length of every log frame is below 2^24, so that a log reader recognizes a marked frame by its first byte.
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
// The maximum confirmed revenue of a session is at least the maximum payout of an offer. The square of the maximum confirmed revenue, in
// cents, is a safe integer.
assert(
  bounds.payoutUsdMax <= bounds.confirmedRevenueUsdMax &&
    (bounds.confirmedRevenueUsdMax * 100) ** 2 <= Number.MAX_SAFE_INTEGER,
);
