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
  /** Age of sessions whose revenue counts as final. */
  maturedDays: 45,
  /** Sessions from which on analytics show a confidence interval. */
  confidenceSessionsMin: 30,

  // HTTP (docs/contract.md#request-bodies, docs/contributing/native-http.md)
  /** Request line and headers together; enough for the longest `sub_id_list`. Above it, the HTTP engine replies 431. */
  requestHeadBytesMax: 40 * 1024,
  requestBodyBytesMax: 64 * 1024,
  /** Time from the request head to the reply. After that, the reply is 503. */
  requestDeadlineMs: 2_000,
  /** Interval at which deadlines are checked. */
  deadlineCheckIntervalMs: 100,
  /** Time for a request head or body, and for an idle connection. uWebSockets.js has this value built in. */
  connectionIdleTimeoutMs: 10_000,
  /** Interval at which the node listener checks `connectionIdleTimeoutMs`. */
  connectionCheckIntervalMs: 1_000,
  /** Requests of one connection that wait for replies (node listener; uWebSockets.js accepts one). */
  pipelinedRequestsMax: 16,
  /**
   * Reply bytes not yet read by clients, all connections of a listener. Above it, the listener closes the connection that made no
   * progress for the longest time.
   */
  unsentReplyBytesMax: 24 * 1024 * 1024,
  /** Buffer of the HTTP engine for one connection; counts towards `unsentReplyBytesMax`. */
  engineBufferBytesPerConnection: 16 * 1024,
  /**
   * Mean number of reply bytes sent to one connection between two checks that the client reads (uWebSockets.js). The interval is
   * random so that a client cannot avoid the checks.
   */
  bytesBetweenReadChecksMean: 32 * 1024,
  /** Requests answered in one turn of the event loop (uWebSockets.js). Later requests are answered in the next turn. */
  repliesPerTurnMax: 256,
  /** Default time for pending requests during a stop. Then their connections are closed. */
  drainDeadlineDefaultMs: 5_000,
  drainDeadlineSecondsMax: 600,
  /** Maximum time in which a stopping service still accepts connections. */
  drainDelaySecondsMax: 600,
  /** Time to close after an uncaught exception before the process exits. */
  crashCloseTimeoutMs: 2_000,
  /** Size of a certificate or key file; a certificate chain has about 10 kB. */
  certificateFileBytesMax: 1024 * 1024,
  certificatePollIntervalMs: 1_000,
  /** Delay after a change of one certificate file, because certificate and key are written one after the other. */
  certificateReloadDelayMs: 1_000,
  /** Time before the expiry of the certificate from which on the log warns. */
  certificateExpiryWarningMs: 14 * 24 * 60 * 60 * 1000,
  certificateExpiryCheckIntervalMs: 12 * 60 * 60 * 1000,
  /** Length of a list header, such as `Accept`, that is parsed. Browsers send a few hundred characters. */
  headerListCharactersMax: 1_024,
  /** Cache-Control max-age of scripts and logos without a content hash in their URL. */
  staticMaxAgeSeconds: 300,
  /** Cache-Control max-age of files with a content hash in their URL: one year. */
  immutableMaxAgeSeconds: 31_536_000,
  /** Retry-After of a 503. */
  retryAfterSeconds: 1,

  // Log of the process
  /** Log lines per second for each kind of rejected request. */
  refusalLogLinesPerSecond: 5,
  /** Log lines for each kind of rejected request at once, after a period without any. */
  refusalLogLinesBurst: 20,
  /** Interval at which the number of dropped log lines is logged. */
  refusalLogSummaryIntervalMs: 1_000,
  /** Buffer for log lines that the reader of standard error has not read. Above it, lines are dropped. */
  loggerBufferBytesMax: 4 * 1024 * 1024,
  /** Maximum wait for the reader of standard error at the end of the process. */
  loggerFlushTimeoutMs: 2_000,

  // Sessions (docs/contract.md#sessions)
  userAgentCharactersMax: 1024,
  /** User agents with a cached device class: at most about 8 MB. */
  userAgentCacheEntriesMax: 4_096,
  /** Default number of referrer tags per account, vertical and mode. The daily totals of each tag are kept forever. */
  referrerTagLimitDefault: 100_000,
  /** Maximum of the setting. An account with this many tags of maximum length uses 80 MB of memory. */
  referrerTagLimitMax: 1_000_000,
  /** Interval at which a restore of referrer tags that timed out is retried. */
  referrerTagRestorePollMs: 100,
  /** Members of the `metadata` of a session. */
  metadataKeysMax: 10,
  /** Length of a key or value of the metadata. */
  metadataCharactersMax: 256,
  idempotencyKeyCharactersMax: 255,
  /** Idempotency keys stored until their sessions expire, about 120 bytes each outside the heap. Above it, requests with a key get 503. */
  idempotencyKeysMax: 1_000_000,
  /** Expired keys deleted with each new key: a few microseconds. */
  expiredIdempotencyKeysPerInsert: 16,
  /** JSON text that is hashed to compare the payloads of two requests. */
  idempotencyPayloadBytesMax: 48 * 1024,
  /** Shards of the session store. Growing one large hash table would block the event loop for hundreds of milliseconds. */
  sessionStoreShards: 256,
  /** Time in which every shard is searched once for expired sessions. Expiry itself does not depend on it. */
  sessionSweepIntervalMs: 60_000,
  /** Minimum interval between searches of a full store for expired sessions. */
  sessionStoreFullCheckIntervalMs: 100,
  /**
   * Heap per live session, from which the default of SVC_MAX_SESSIONS is derived. Widget counters use up to 800 bytes of it. The
   * session, its ranking and its idempotency key use about 570 bytes outside the heap.
   */
  sessionHeapBytes: 2_048,
  /** Default session limit of the embedded API. */
  embeddedSessionLimitDefault: 100_000,

  // Pocket fields (docs/contract.md#pocket-fields)
  fieldsMax: 64,
  fieldNameCharactersMax: 64,
  /** Unknown member names listed in the reply to a test key. */
  ignoredNamesShownMax: 64,
  ignoredNameCharactersShown: 64,

  // Offers (docs/contract.md#marketplace-answers)
  offersShownDefault: 5,
  offersShownMax: 20,
  /** Offers kept for each sort order of a ranking. 12 of the best can become unavailable before the ranking is recomputed. */
  offersRankedMax: 32,
  /** Offers whose cap state may change before a ranking is recomputed instead of recounted: about 5 microseconds. */
  offersRecountedMax: 64,
  /** Offers of a catalog; offer indices are 16-bit integers. */
  catalogOffersMax: 20_000,
  catalogFileBytesMax: 64 * 1024 * 1024,
  /** JSON values of a catalog file: 200 for each offer of the largest catalog. Generated offers have 80. */
  catalogValuesMax: 4_000_000,
  /** Nesting depth of a catalog file; the format needs ten levels. */
  catalogDepthMax: 64,
  /** Items of a list in a catalog other than lenders and offers. The longest are states and credit bands. */
  catalogListItemsMax: 256,
  catalogObjectMembersMax: 256,
  /** Heap of the thread that compiles a catalog. 20,000 generated offers need 160 MB. */
  catalogThreadHeapMegabytes: 1_024,
  /** Errors reported for one catalog file. Further errors are only counted. */
  catalogErrorsReportedMax: 1_000,
  /** Length of a member name in a catalog error. */
  catalogNameCharactersShown: 80,
  /** Length of a catalog error. */
  catalogErrorCharactersShown: 400,
  offerIdCharactersMax: 64,
  /** Code points, so up to twice as many UTF-16 units. */
  lenderNameCodePointsMax: 100,
  catalogVersionCharacters: 12,
  /** Length of the `v` parameter of a click URL. */
  clickTokenCharactersMax: 64,
  payoutUsdMax: 100_000,
  /** Largest daily cap of an offer. */
  dailyCapClicksMax: 100_000_000,
  /** Largest loan amount or credit limit of an offer. */
  offerAmountUsdMax: 100_000_000,
  /** Different terms in one catalog; a set of terms is stored as bits of an integer. */
  catalogTermsMax: 24,
  /** Compiled catalogs cached by a matching thread. */
  matchWorkerCatalogsMax: 16,
  /** Buckets of one ranged criterion of the match index. Each has a bit for every offer. */
  matchIndexBucketsMax: 64,
  /** Size of the match index of one catalog in a matching thread. */
  matchIndexBytesMax: 48 * 1024 * 1024,
  /** Offers of a new catalog transferred per event-loop turn (about 1 ms). */
  catalogTransferOffersPerTurn: 250,
  catalogPollIntervalMs: 1_000,
  /** Catalogs up to this size are ranked in the main thread, because a message to a matching thread costs more (docs/contributing/benchmarks.md). */
  matchInThreadOffersMax: 100,
  /** Requests queued for the matching threads. Above it, requests get 503. */
  matchQueueRequestsMax: 4_096,
  matchBatchRequestsMax: 64,
  /** Delay before a matching thread that processed no request is restarted; doubles up to the maximum. */
  matchWorkerRestartDelayMinMs: 100,
  /** Below the request deadline, so that a waiting request can still be answered. */
  matchWorkerRestartDelayMaxMs: 1_000,
  /** Maximum wait for the running batches of the matching threads during a stop. */
  matcherCloseTimeoutMs: 2_000,
  /** Offers explained per event-loop turn: less than a millisecond. */
  explainedOffersPerTurn: 256,
  /** Queued requests with `explain`. Above it, they get 503. */
  explanationQueueMax: 16,
  /** Time for which a replaced catalog is kept for clicks (docs/contract.md#replaced-catalogs). */
  replacedCatalogRetentionMs: 28 * 60 * 60 * 1000,
  /** Replaced catalogs kept at once. Above it, catalog changes fail until the oldest expires. */
  replacedCatalogsMax: 256,

  // Logos
  logoFileBytesMax: 64 * 1024,
  /** Logo files loaded for one catalog. Further lenders get monograms. */
  logoFilesPerCatalogMax: 2_000,
  /** Nesting depth of the elements of a logo; browsers have the same limit. */
  logoElementDepthMax: 256,
  /** Namespace declarations of a logo. Drawing programs write a dozen on the root element, some on every element. */
  logoNamespaceDeclarationsMax: 1_000,
  logoFileNameCharactersMax: 68,
  /** Logo file names kept although no active catalog uses them. */
  unusedLogoNamesMax: 1_000,
  /** Monograms created per event-loop turn (about 1 ms). */
  monogramsPerTurn: 250,

  // Clicks (docs/contract.md#click-redirect)
  /** Time after a session starts in which clicks count for it. */
  clickAttributionMs: 24 * 60 * 60 * 1000,
  /** Maximum wait for the log before a click is redirected without a durable record. */
  clickDurabilityTimeoutMs: 500,
  /** Recorded clicks of one session on one offer. Further clicks are only redirected. */
  clicksRecordedPerLinkMax: 10,
  /** Recorded clicks of one session on all offers. Further clicks are only redirected. */
  clicksRecordedPerSessionMax: 64,
  /** One-byte cells in each of the four rows of the sketch that counts clicks per session: 4 MiB for the sessions of a day. */
  sessionClickCells: 1024 * 1024,
  /** Click links whose recorded clicks are counted at once. */
  clickCountersMax: 200_000,
  /**
   * Pairs of session and capped offer kept, at most 24 bytes each. Above it the pairs of the oldest sessions are dropped; their
   * clicks then consume a cap slot even if they book nothing.
   */
  sessionCappedOfferPairsMax: 4_000_000,

  // Widgets (docs/contract.md#widget)
  /** Requests for offers and batches of events from the widgets of one session. Above it, requests get 429. */
  widgetRequestsPerMinute: 120,
  /** Widget loads of one session that count as views. Further loads still show offers. */
  widgetLoadsPerSessionMax: 256,
  /** Events in one request. */
  widgetEventsPerBatchMax: 50,
  /** Recorded events of one session. */
  widgetEventsPerSessionMax: 1_000,
  widgetEventIdCharactersMax: 64,
  /** Placeholder cards shown while offers load. */
  widgetPlaceholderCardsMax: 5,
  /** Random bytes of the Content-Security-Policy nonce. */
  widgetNonceBytes: 16,
  /** Random bytes of the ID of the container element. */
  widgetMountIdBytes: 4,

  // Confirmations (docs/contract.md#confirmations)
  /** Time after a click in which a confirmation is accepted. */
  confirmationWindowMs: 90 * 24 * 60 * 60 * 1000,
  /** Accepted difference between the clocks of the lender and the service. */
  confirmationClockSkewMs: 5_000,
  /** Confirmed revenue of one session. Its square in cents is an exact number. */
  confirmedRevenueUsdMax: 100_000,
  /** Length of the lender's payout ID. */
  txidCharactersMax: 128,
  confirmationRowsPerRequestMax: 500,
  confirmationBodyBytesMax: 512 * 1024,
  /** Queued batches of confirmations. Above it, requests get 503. */
  confirmationQueueBatchesMax: 16,
  /** Length of one row of a confirmation file. */
  confirmationFileRowCharactersMax: 8 * 1024,
  /** Maximum wait of `marketplace confirm` for the reply to one batch. */
  confirmRequestTimeoutMs: 10_000,
  /** Attempts of `marketplace confirm` to send one batch. */
  confirmAttemptsMax: 5,
  /** Delay before the first retry of `marketplace confirm`. */
  confirmRetryDelayMs: 500,

  // Limits (docs/contract.md#rate-limits)
  requestsPerMinuteDefault: 500,
  analyticsPerMinuteDefault: 50,
  sessionsPerDayDefault: 10_000,
  rateLimitWindowMs: 60_000,
  /** Largest limit of a key. The sliding window stores one number per admitted request. */
  limitPerMinuteMax: 1_000_000,
  limitPerDayMax: 1_000_000_000,

  // Verticals (docs/contract.md#verticals)
  /** A sub_id has seven bits for the vertical. */
  verticalNumberMax: 127,
  verticalSegmentCharactersMax: 64,

  // Keys (docs/contract.md#api-keys)
  apiKeyCharactersMax: 128,
  apiKeyPrefixCharactersMax: 32,
  /** Interval at which the server reloads changed keys. The command line promises two seconds. */
  apiKeyPollIntervalMs: 1_000,
  /** Minimum interval between reloads that unknown keys trigger. */
  unknownApiKeyPollIntervalMs: 100,
  /** Key and origin changes loaded per event-loop turn: a few milliseconds. */
  apiKeyChangesPerTurn: 500,
  /** Maximum wait of the event loop for a lock on the key file. After that, it uses the last loaded keys. */
  apiKeyReadLockTimeoutMs: 20,
  /** Cached key IDs, and as many account names, for the log: a few hundred kB each. */
  callerNameCacheEntriesMax: 4_096,
  /** Maximum wait of a command for the lock on the key file. */
  apiKeyCommandLockTimeoutMs: 5_000,
  /** Maximum wait of the server for the write lock on the key file; it blocks the event loop. */
  apiKeyServerLockTimeoutMs: 100,
  /** Delay between attempts to switch a new key file to WAL mode. */
  apiKeyWalRetryDelayMs: 5,
  accountNameCharactersMax: 64,
  /** Largest time value of a JavaScript `Date`. */
  timestampMsMax: 8_640_000_000_000_000,
  /** Key usage entries checked for removal per request: a few microseconds. */
  keyUsagesFreedPerRequest: 64,

  // Embed origins
  /** Embed origins of one account. All of them at maximum length make a header of about 16 KiB. */
  embedOriginsPerAccountMax: 64,
  originCharactersMax: 255,

  // Analytics (docs/contract.md#analytics)
  subIdListMax: 500,
  analyticsDefaultDays: 30,
  /** Days of matured revenue in a summary without dates. */
  maturedDefaultDays: 180,
  /** Lenders listed in a summary. */
  topLendersMax: 20,
  /** Days or rows on one page, and the default. */
  analyticsPageItemsMax: 100,
  /** Minimum retention. Nothing older than this can still change. */
  retentionDaysMin: 140,
  retentionDaysMax: 36_500,
  /** Interval at which data older than the retention is deleted. */
  retentionCheckIntervalMs: 60 * 60 * 1000,
  /** Delay before a failed deletion is retried. */
  retentionRetryDelayMs: 60 * 1000,
  /** Queued queries to the aggregator. Above it, requests get 503. */
  analyticsQueueQueriesMax: 1_024,
  /** Queries sent to the aggregator at once. The others can still be cancelled. */
  analyticsQueriesInFlightMax: 32,
  /** Queries that wait longer are rejected, because the request deadline has passed. */
  analyticsQueryTimeoutMs: 2_000,

  // Operations
  /** Maximum wait of a scrape for a metric from another thread or the disk. After that, the scrape omits it. */
  scrapeReadTimeoutMs: 250,
  /** Interval at which the event loop delay is measured. */
  loopDelaySampleIntervalMs: 20,
  /** Positions kept to compute the analytics lag. */
  analyticsLagSamplesMax: 512,
  /** Initial interval between these positions; doubled when there are too many. */
  analyticsLagSampleIntervalMs: 100,

  // Configuration
  /** Largest TCP port. */
  portMax: 65_535,
  matcherThreadsMax: 256,
  sessionLimitMax: 1_000_000_000,
  corsOriginsMax: 64,
  /** Host names that the operations listener accepts. */
  opsAllowedHostsMax: 64,
  /** Length of a setting in an error message. */
  settingCharactersShown: 80,

  // Command line
  /** Tasks that are faster show no progress bar. */
  progressBarDelayMs: 1_000,
  progressBarRedrawIntervalMs: 100,
  /** Interval at which a start without a terminal logs its progress. */
  restoreProgressLogIntervalMs: 5_000,
  /** Default number of records of `log inspect`. */
  logInspectRecordsDefault: 20,

  // Capacity planner
  /** API keys of a capacity plan. */
  plannedKeysMax: 1_000_000_000,
  plannedSloMsMax: 60_000,
  /** Size of a benchmark result file; a full result has a few hundred kB. */
  benchResultFileBytesMax: 64 * 1024 * 1024,
  mixFileBytesMax: 64 * 1024,
  /** Duration of the load of a capacity check. */
  capacityCheckSecondsMax: 3_600,
  /** Live sessions that a capacity check creates before the load. */
  capacityCheckSessionsMax: 10_000_000,
  /** Requests of a capacity check. All are prepared in advance: about 1 kB each. */
  capacityCheckRequestsMax: 2_500_000,

  // Event log
  logSegmentBytesMax: 64 * 1024 * 1024,
  /** Payload of one record. A session with the largest metadata is far below. */
  logRecordBytesMax: 64 * 1024,
  /** Elements of a record, and of an array inside a record. */
  logRecordItemsMax: 64,
  logReadChunkBytes: 1024 * 1024,
  /** Records of an open log read per event-loop turn: 1 to 2 ms. */
  logRecordsReadPerTurn: 1_000,
  /** Bytes preallocated behind the log's data, so that most syncs do not change the file size. */
  logPreallocationBytes: 256 * 1024,
  /** Initial buffer of a group of records; it grows as needed. */
  logGroupInitialBytes: 64 * 1024,
  /** Interval at which an unwritable log is retried. */
  logRetryIntervalMs: 1_000,
  /** Longest delay before records appended without waiting are stored. Analytics queries for them wait as long. */
  logLingerMs: 5,
  /** Records appended and not yet durable. Above it, requests get 503. */
  logPendingBytesMax: 16 * 1024 * 1024,
  /** Duration of a journal epoch. It is kept until the sessions changed in it have expired. */
  journalEpochDurationMs: 15 * 60 * 1000,
  /** Interval at which the journal starts new epochs and deletes old ones. */
  journalMaintenanceIntervalMs: 60_000,
  /** Largest backward step of the wall clock after which a start still reads every record it needs. */
  clockSetBackMsMax: 60 * 60 * 1000,
  /** Records that the aggregator applies in one transaction. */
  projectionBatchRecordsMax: 8_192,
  /**
   * Delay in which the aggregator collects records for one transaction, unless a query waits or the batch is full. Under load, a
   * session costs 35.3 us of all threads with 20 ms, and 32.6 us with 250 ms.
   */
  projectionLingerMs: 250,
  /** Cached row IDs of names (tags, offers, lenders) in the aggregator. */
  projectionNameCacheEntriesMax: 20_000,
  /** Cached row IDs of sessions in the aggregator. */
  projectionSessionCacheEntriesMax: 20_000,
  /** Session IDs in one row of a cohort. Larger rows would need overflow pages. */
  cohortRowSessionsMax: 30,
  /** Expired sessions that the aggregator deletes in one transaction, between batches. */
  sessionsPrunedPerTransaction: 500,
  /** Experiments in one reply of the aggregator during a start: a few milliseconds of work in both threads. */
  experimentsPerPage: 5_000,
  /** Pages of 4 KiB in the write-ahead log of the analytics store before a checkpoint. */
  analyticsStoreCheckpointPages: 4_000,
  /** Page cache of the analytics store. */
  analyticsStoreCacheKibibytes: 16 * 1024,
  /** Length of a tag, offer ID, lender name or catalog version in the ledger. */
  ledgerNameCharactersMax: 256,
  /** Preliminary revenue of one click. 64-bit sums of it cannot overflow. */
  clickValueMicrosMax: 1_000_000_000_000,
  /** Heap of the aggregator; a batch and the caches need a small part of it. */
  aggregatorHeapMegabytes: 256,
  /** Delay before an aggregator that exited is restarted; doubles up to the maximum until the aggregator has caught up. */
  aggregatorRestartDelayMinMs: 100,
  aggregatorRestartDelayMaxMs: 5_000,
  /** Maximum wait for the running batch of the aggregator during a stop. */
  aggregatorCloseTimeoutMs: 5_000,
} as const;

// The longest metadata in its longest encoding (4 bytes per code point, escaped) fits into a record.
assert(bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 6 + 1_024 < bounds.logRecordBytesMax);
// The same metadata as text inside JSON (escapes are escaped again: 7 bytes per code point), and the longest user agent.
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
// Every name and payout of a valid catalog is valid in the ledger. Readers skip records with larger values.
assert(bounds.offerIdCharactersMax <= bounds.ledgerNameCharactersMax);
assert(bounds.lenderNameCodePointsMax * 2 <= bounds.ledgerNameCharactersMax);
assert(bounds.catalogVersionCharacters <= bounds.ledgerNameCharactersMax);
assert(bounds.payoutUsdMax * 1_000_000 <= bounds.clickValueMicrosMax);
// An amount and two rates in hundredths of a percent share one sort key, which must be an exact integer.
assert(bounds.aprPercentMax * 100 < 2 ** 12 && bounds.offerAmountUsdMax * 2 ** 24 < 2 ** 53);
assert(bounds.catalogTermsMax < 31);
// Offers are sorted by one exact integer: a sort key (revenue is the largest) and the offer index.
assert(bounds.catalogOffersMax <= 2 ** 15 && bounds.payoutUsdMax * 1_000_000 < 2 ** 37);
assert(bounds.offerAmountUsdMax < 2 ** 37);
// A day is archived only when no click or confirmation can change it any more, with weeks to spare.
assert(bounds.clickAttributionMs + bounds.confirmationWindowMs < (bounds.retentionDaysMin - 30) * 24 * 60 * 60 * 1000);
assert(bounds.clickDurabilityTimeoutMs < bounds.requestDeadlineMs);
// Click counts of a session are bytes and kept for two days. Cells are selected by up to 24 bits.
assert(bounds.clicksRecordedPerSessionMax <= 255 && bounds.clickAttributionMs <= 24 * 60 * 60 * 1000);
assert(Number.isInteger(Math.log2(bounds.sessionClickCells)) && bounds.sessionClickCells <= 2 ** 24);
// A scrape completes before the request deadline even if several metrics time out.
assert(bounds.scrapeReadTimeoutMs * 4 <= bounds.requestDeadlineMs);
// The default drain deadline is longer than any request.
assert(bounds.requestDeadlineMs + bounds.deadlineCheckIntervalMs < bounds.drainDeadlineDefaultMs);
assert(bounds.clickAttributionMs + bounds.sessionTtlMs <= bounds.replacedCatalogRetentionMs);
// Frame lengths are below 2^24, so that the marked frames of the log are quick to find.
assert(bounds.logRecordBytesMax * 2 <= bounds.logReadChunkBytes && bounds.logRecordBytesMax < 2 ** 24);
assert(bounds.offersShownMax <= bounds.logRecordItemsMax && bounds.widgetEventsPerBatchMax <= bounds.logRecordItemsMax);
// A journal batch consists of pairs.
assert(bounds.logRecordItemsMax % 2 === 0);
assert(bounds.logRecordBytesMax < bounds.logSegmentBytesMax && bounds.logPendingBytesMax < bounds.logSegmentBytesMax);
// The sum that one batch adds to a counter is an exact number.
assert(bounds.projectionBatchRecordsMax * bounds.clickValueMicrosMax <= Number.MAX_SAFE_INTEGER);
// A full batch of rows of maximum length fits into a body.
assert(bounds.confirmationRowsPerRequestMax * 1_024 <= bounds.confirmationBodyBytesMax);
// The longest row of a confirmation file fits into a body after escaping.
assert(bounds.confirmationFileRowCharactersMax * 6 <= bounds.confirmationBodyBytesMax);
assert(bounds.txidCharactersMax <= bounds.ledgerNameCharactersMax);
// The highest payout of a catalog can be confirmed. The square of the revenue of a session in cents is an exact number.
assert(
  bounds.payoutUsdMax <= bounds.confirmedRevenueUsdMax &&
    (bounds.confirmedRevenueUsdMax * 100) ** 2 <= Number.MAX_SAFE_INTEGER,
);
