/**
 * Limits, timeouts and sizes of the service. The name of each constant contains its unit. The assertions at the end of this file check
 * relations between the constants.
 */
import assert from 'node:assert/strict';

export const bounds = {
  // General (docs/contract.md)
  /** Session lifetime (docs/contract.md#session-lifetime). */
  sessionTtlMs: 4 * 60 * 60 * 1000,
  /** Highest annual percentage rate of an offer (docs/contract.md#eligibility). */
  aprPercentMax: 36,
  /** Analytics count the revenue of a session as final if the session is older than this number of days. */
  maturedDays: 45,
  /** Minimum number of sessions with confirmed revenue for which analytics include a confidence interval. */
  unitsWithRevenueMin: 25,

  // HTTP (docs/contract.md#request-bodies, docs/contributing/native-http.md)
  /** Maximum size of the request line and all headers, enough for the longest `sub_id_list`; larger requests get 431. */
  requestHeadBytesMax: 40 * 1024,
  requestBodyBytesMax: 64 * 1024,
  /** Maximum time from the receipt of a request head to the response; slower requests get 503. */
  requestDeadlineMs: 2_000,
  deadlineCheckIntervalMs: 100,
  /** Maximum time to receive a request head or body, and maximum idle time of a connection; equal to the fixed limit of uWebSockets.js. */
  connectionIdleTimeoutMs: 10_000,
  /** Interval at which the node listener checks `connectionIdleTimeoutMs`. */
  connectionCheckIntervalMs: 1_000,
  /** Maximum number of requests that wait, or arrive in one turn of the event loop, on one connection of the node listener. */
  pipelinedRequestsMax: 16,
  /** Maximum number of chunks of a refused body that the node listener parses in one turn of the event loop. */
  refusedBodyChunksPerTurnMax: 1_024,
  /** Maximum size of all unread replies of a listener; above this size, the listener closes the connection that has stalled longest. */
  unsentReplyBytesMax: 24 * 1024 * 1024,
  /**
   * Number of turns of the event loop after which the node listener treats an unsent reply as stalled. Over TLS, Node.js passes at most 160
   * KB of a reply to the operating system in each turn; the buffers of the operating system have about 2.6 MB per connection.
   */
  turnsUntilStalled: 32,
  /** Size of the HTTP engine's buffer for each connection. `unsentReplyBytesMax` includes the buffers of all connections. */
  engineBufferBytesPerConnection: 16 * 1024,
  /** The server checks at random times whether clients read their responses. Mean number of response bytes between two checks. */
  bytesBetweenReadChecksMean: 32 * 1024,
  /** Maximum number of requests that the uWebSockets.js listener answers in one turn of the event loop. */
  repliesPerTurnMax: 256,
  /** Default for the maximum time that a stopping service waits for pending requests before it closes their connections. */
  drainDeadlineDefaultMs: 5_000,
  drainDeadlineSecondsMax: 600,
  /** Maximum configurable delay before a stopping service refuses new connections. */
  drainDelaySecondsMax: 600,
  /** Maximum time from an uncaught exception to the exit of the process, even if the service cannot be closed in this time. */
  crashCloseTimeoutMs: 2_000,
  /** Maximum size of a certificate file or key file. A certificate chain has about 10 kB. */
  certificateFileBytesMax: 1024 * 1024,
  /** Maximum size of the secret file. A file with 255 secrets has less than 32 KiB. */
  secretFileBytesMax: 64 * 1024,
  operatorTokenFileBytesMax: 1024,
  /** Minimum time between two reads of the operator token. A replaced token must become invalid within two seconds. */
  operatorTokenReadIntervalMs: 100,
  certificatePollIntervalMs: 1_000,
  /** Delay between a change of the certificate file or key file and the reload, so that both files are written before the reload. */
  certificateReloadDelayMs: 1_000,
  /** The service logs a warning if the certificate expires within this time. */
  certificateExpiryWarningMs: 14 * 24 * 60 * 60 * 1000,
  certificateExpiryCheckIntervalMs: 12 * 60 * 60 * 1000,
  /** Maximum length of a comma-separated header, such as `Accept`; an `Accept` header of a browser has at most a few hundred characters. */
  headerListCharactersMax: 1_024,
  /** Maximum length of a `Link` header; many clients and proxies accept at most 8 or 16 KiB of response headers. */
  linkHeaderCharactersMax: 6 * 1_024,
  /** Cache-Control max-age of scripts and logos without a content hash in their URL. */
  staticMaxAgeSeconds: 300,
  /** Cache-Control max-age of files with a content hash in their URL: one year. */
  immutableMaxAgeSeconds: 31_536_000,
  /** Value of the `Retry-After` header in a 503 response. */
  retryAfterSeconds: 1,

  // Forwarding between the shards of one data folder (docs/contributing/decisions/forwarding.md)
  /** Maximum number of requests that one shard has forwarded to another one and that are not answered; further requests get 503. */
  forwardedRequestsMax: 4_096,
  /** Maximum size of the frames that another shard has not read yet; at this size, further requests get 503. */
  forwardedBytesUnsentMax: 8 * 1024 * 1024,
  /** Maximum size of a frame with a request or its body. */
  requestFrameBytesMax: 512 * 1024,
  /** Maximum size of a frame with a response. */
  replyFrameBytesMax: 16 * 1024 * 1024,
  /** Maximum number of items in a frame. */
  frameItemsMax: 32,
  /** Maximum length of a text that a frame contains as text; longer bodies are bytes, which are encoded in less time. */
  frameTextCharactersMax: 256,
  /** Frames up to this size are collected in a buffer that is used again. */
  frameBatchBytesKept: 16 * 1024,
  /** Delay after a lost or refused connection between two shards. */
  shardReconnectDelayMs: 100,
  /** Time after which a shard redirects a click of another shard itself, if the other shard has not answered. */
  clickRelayDelayMs: 300,
  /** Maximum number of clicks that a shard has redirected for other shards, and that the other shards have not recorded yet. */
  relayedClicksMax: 100_000,
  /** Maximum number of relayed clicks that are sent to another shard before it has recorded the first of them. */
  relayedClicksSentMax: 256,
  /** Maximum length of the path of a Unix socket on Linux. */
  socketPathBytesMax: 107,

  // Process log
  /** Maximum number of log lines per second for each kind of rejected request. */
  refusalLogLinesPerSecond: 5,
  /** Maximum burst of log lines for each kind of rejected request. */
  refusalLogLinesBurst: 20,
  /** Minimum interval between two log lines about incomplete answers with the same problem. */
  incompleteAnswerLogIntervalMs: 60_000,
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
  /** Delay between two attempts to restore the referrer tags and the running experiments from the analytics store. */
  analyticsRestorePollMs: 100,
  metadataKeysMax: 10,
  /** Maximum length of a key or value in the `metadata` of a session. */
  metadataCharactersMax: 256,
  idempotencyKeyCharactersMax: 255,
  /** Maximum length of a `unit_id`. */
  unitIdCharactersMax: 64,
  /** Maximum number of stored idempotency keys (about 90 bytes each); at the maximum, requests with a new idempotency key get 503. */
  idempotencyKeysMax: 1_000_000,
  /** Maximum number of expired records that are deleted to make room for a new session or idempotency key. */
  expiredRecordsPerInsert: 16,
  /** Maximum size of the JSON text that is hashed to compare the payloads of two requests. */
  idempotencyPayloadBytesMax: 48 * 1024,
  /** Interval at which the session store deletes expired sessions. Requests for expired sessions are rejected even before the deletion. */
  sessionSweepIntervalMs: 250,
  /** Maximum number of expired sessions that are deleted at once, so that the deletion takes only a few milliseconds. */
  expiredSessionsPerSweep: 4_096,
  /**
   * Heap size of one live session, including up to 800 bytes of widget counters. The default of SVC_MAX_SESSIONS is computed from
   * `sessionHeapBytes`. Outside the heap, a session, its ranking and its idempotency key use about 560 bytes.
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
  /** Number of offers per sort order in a cached ranking; more than a response shows, because some offers may become unavailable. */
  offersRankedMax: 32,
  /** Maximum number of offers in a catalog. Offer indices are 16-bit integers. */
  catalogOffersMax: 20_000,
  /** Maximum number of cached templates of offers in one catalog. A template has about 2 kB. */
  offerTemplatesMax: 8_192,
  catalogFileBytesMax: 64 * 1024 * 1024,
  /** Maximum number of JSON values in a catalog file, which allows on average 200 JSON values per offer in the largest catalog. */
  catalogValuesMax: 4_000_000,
  /** Maximum nesting depth of the JSON in a catalog file. A valid catalog needs only ten levels. */
  catalogDepthMax: 64,
  /** Maximum length of a JSON array in a catalog, except the arrays of lenders and offers. */
  catalogListItemsMax: 256,
  catalogObjectMembersMax: 256,
  /** Maximum heap size of the thread that compiles a catalog. A catalog with 20,000 generated offers needs 160 MB of heap. */
  catalogThreadHeapMegabytes: 1_024,
  /** Maximum number of errors reported for one catalog file; further errors are counted, but not described. */
  catalogErrorsReportedMax: 1_000,
  catalogNameCharactersShown: 80,
  catalogErrorCharactersShown: 400,
  offerIdCharactersMax: 64,
  /** Maximum length of a lender name in Unicode code points. */
  lenderNameCodePointsMax: 100,
  catalogVersionCharacters: 12,
  /** Maximum length of the `v` parameter of a click URL. */
  clickTokenCharactersMax: 64,
  payoutUsdMax: 100_000,
  dailyCapClicksMax: 100_000_000,
  /** Maximum length of the lender's own disclosure of an offer. */
  offerLegalCharactersMax: 600,
  /** Default of `max_age_days` in a catalog: number of days after which the figures of an offer are outdated. */
  offerAgeDaysDefault: 45,
  offerAgeDaysMax: 3_660,
  /** Maximum length of the name of a card or a deposit account, in Unicode code points. */
  productNameCodePointsMax: 80,

  // Deposit accounts (docs/verticals/banking.md)
  depositUsdMax: 10_000_000,
  depositRatePercentMax: 25,
  depositTiersMax: 12,
  /** Maximum number of rates of a certificate of deposit whose rate changes. */
  depositStepsMax: 12,
  depositMonthlyFeeUsdMax: 500,
  depositBonusUsdMax: 10_000,
  depositBonusRequirementCharactersMax: 200,
  /** A bonus that needs more than a year would not be part of the earnings of the first year. */
  depositBonusDaysMax: 365,
  /** Smallest and largest budget of an offer for a day or a month. Sums of click values up to the largest budget are safe integers. */
  budgetUsdMin: 0.01,
  budgetUsdMax: 1_000_000_000,
  /** Largest loan amount or credit limit of an offer. */
  offerAmountUsdMax: 100_000_000,
  /** Largest monthly spend, carried balance or balance transfer of a card applicant (docs/verticals/credit-cards.md#fields). */
  cardAmountUsdMax: 100_000,
  advisorFeePercentMax: 5,
  /** Largest fee of an advisor, by year or by hour. */
  advisorFeeUsdMax: 1_000_000,
  advisorHoursPerYearMax: 1_000,
  advisorFeeTiersMax: 12,
  /** Largest fee, bonus or security deposit of a card. */
  cardFeeUsdMax: 10_000,
  /** Highest fee of a card as a percentage of an amount, such as a transfer fee. */
  cardFeePercentMax: 20,
  /** Highest rewards rate of a card, as a percentage of the purchases. */
  cardRewardPercentMax: 20,
  /** Maximum number of spending categories for which a card has a rewards rate. */
  cardRewardCategoriesMax: 16,
  /** Shortest introductory period that 12 CFR 1026.55(b)(1) allows. */
  cardIntroMonthsMin: 6,
  cardIntroMonthsMax: 60,
  /** Shortest grace period that 12 CFR 1026.5(b)(2)(ii) allows; a card may have no grace period. */
  cardGraceDaysMin: 21,
  cardGraceDaysMax: 90,
  /** Maximum number of different loan terms in one catalog. A set of loan terms is stored as a bitmask in one integer. */
  catalogTermsMax: 24,
  /** Highest value of a home. A mortgage is at most the value of the home. */
  mortgagePropertyValueUsdMax: 20_000_000,
  /** Maximum number of loan-to-value bands of a mortgage offer. */
  mortgageLoanToValueBandsMax: 8,
  /** Maximum number of combinations of rate, term and rate adjustment in one mortgage catalog (about 150 bytes each). */
  mortgageSchedulesMax: 50_000,
  /** Maximum number of compiled catalogs that a matching thread caches. */
  matchWorkerCatalogsMax: 16,
  /** Maximum number of buckets into which `RangeIndex` divides the values of one criterion, such as an annual income. */
  rangeIndexBucketsMax: 64,
  /** Number of offers of a new catalog that a thread sends to another thread in one event-loop turn (about 1 ms). */
  catalogTransferOffersPerTurn: 250,
  catalogPollIntervalMs: 1_000,
  /**
   * Maximum number of offers in a catalog that is ranked in the main thread instead of a matching thread. Ranking a small catalog takes
   * less time than sending a message to a matching thread (docs/contributing/benchmarks.md).
   */
  matchInThreadOffersMax: 100,
  /** Maximum number of requests queued for the matching threads; further requests get 503. */
  matchQueueRequestsMax: 4_096,
  matchBatchRequestsMax: 64,
  /**
   * Maximum time until the results of a batch arrive. Then the matching thread of the batch is terminated. If no thread is ready, the time
   * includes the start of a thread.
   */
  matchBatchTimeoutMs: 3_000,
  /**
   * Delay after the exit of a matching thread until the threads that could not be replaced are started again. Shorter than the request
   * deadline, so that waiting requests can still be answered.
   */
  matchThreadRestartDelayMs: 500,
  /** Maximum heap size of a matching thread. Compiled catalogs are in shared memory, which is not part of the heap. */
  matchThreadHeapMegabytes: 256,
  /** Maximum time to wait for the running batches of the matching threads when the service stops. */
  matcherCloseTimeoutMs: 2_000,
  /** Number of offers explained in one event-loop turn (less than 1 ms). */
  explainedOffersPerTurn: 256,
  /** Maximum number of queued requests with the parameter `explain`; further requests with `explain` get 503. */
  explanationQueueMax: 16,
  /** Time for which clicks on offers of a replaced catalog are still valid (docs/contract.md#replaced-catalogs). */
  replacedCatalogRetentionMs: 28 * 60 * 60 * 1000,
  /** Maximum number of replaced catalogs that are stored. At this number, catalog changes fail until a replaced catalog expires. */
  replacedCatalogsMax: 256,
  /**
   * Maximum size of the files of all replaced catalogs that are stored, about 25 catalogs of 10,000 offers. At this size, catalog changes
   * fail.
   */
  replacedCatalogsBytesMax: 512 * 1024 * 1024,
  /** Maximum time that a click waits until its replaced catalog is compiled, less than `requestDeadlineMs`; later, it gets 503. */
  replacedCatalogWaitMs: 1_700,
  /** Maximum number of clicks that wait until replaced catalogs are compiled; further clicks on their offers get 503. */
  replacedCatalogWaitingClicksMax: 1_000,

  // Logos
  logoFileBytesMax: 64 * 1024,
  /** Maximum number of logo files loaded for one catalog; lenders without a loaded logo get a monogram. */
  logoFilesPerCatalogMax: 2_000,
  /** Maximum nesting depth of the elements in an SVG logo. Some browsers show no deeper image. */
  logoElementDepthMax: 256,
  /** Number of characters of an SVG logo that are parsed before the check for problems. */
  logoParseCharacters: 1_024,
  logoFileNameCharactersMax: 68,
  /** Maximum number of stored logo file names that no active catalog uses. */
  unusedLogoNamesMax: 1_000,
  /** Number of monograms created in one event-loop turn (about 1 ms). */
  monogramsPerTurn: 250,

  // Clicks (docs/contract.md#click-redirect)
  /** Maximum time from the creation of a session to a click that is counted. */
  clickAttributionMs: 24 * 60 * 60 * 1000,
  /** Maximum time that a click redirect waits until the click record is durable; after a timeout, the redirect is sent anyway. */
  clickDurabilityTimeoutMs: 500,
  /** Maximum number of recorded clicks of one session on one offer; further clicks are redirected but not recorded. */
  clicksRecordedPerLinkMax: 10,
  /** Maximum number of recorded clicks of one session on all offers; further clicks are redirected but not recorded. */
  clicksRecordedPerSessionMax: 64,
  /** Number of one-byte cells in each of the four rows of the count-min sketch that counts the recorded clicks of sessions. */
  sessionClickCells: 1024 * 1024,
  /** Maximum number of click URLs for which the service counts the recorded clicks in memory. */
  clickCountersMax: 200_000,
  /**
   * Maximum number of stored session-offer pairs (at most 36 bytes per pair). Only offers whose clicks have limits have such pairs. Above
   * this number, the service deletes the pairs of the oldest sessions. A repeated click of such a session then counts towards the daily cap
   * and the budget again, but books no revenue.
   */
  sessionOfferPairsMax: 4_000_000,
  /** Minimum time from the first answer that shows an offer to a click that books revenue, if clicks confirm their own revenue. */
  clickDelayMsMin: 500,
  /** Maximum number of offers on which the clicks of one session book revenue, if clicks confirm their own revenue. */
  offersBookedPerSessionMax: 10,
  /**
   * Maximum number of offers of one vertical and mode whose booked revenue is stored, besides the offers of the active catalog. Offers that
   * were removed from the catalog are stored until the end of the month.
   */
  removedOfferBookingsMax: 50_000,
  /** Number of random 32-bit numbers that are created at once for the ids of offers with bookings. */
  offerRandomBitsBuffered: 1_024,
  /** Number of UTC days for which the booked revenue of an offer is stored in memory. A wrong clock can add days in the future. */
  bookedDaysStoredMax: 4,
  /** Number of months for which the booked revenue of an offer is stored in memory. */
  bookedMonthsStoredMax: 3,
  /** Number of days before today from which the usual distribution of the clicks over a day is computed. */
  clickDistributionDays: 14,
  /** Minimum number of clicks in these days. With fewer clicks, the distribution is uniform. */
  clickDistributionClicksMin: 1_000,
  /** Length of the time slots in which the clicks of a day are counted. */
  clickDistributionSlotMs: 10 * 60 * 1000,
  /** Minimum time between two checks whether offers with even pacing become available again. */
  pacingCheckIntervalMs: 1_000,
  /** Maximum time that a click waits until its shard gets a part of a daily cap or a budget; afterwards, the click books no revenue. */
  grantWaitMsMax: 100,
  /** Pause between two attempts of a shard to get a part of a daily cap or a budget. */
  grantRetryIntervalMs: 10,
  /** Interval at which a shard checks whether other shards need its unused rest of a daily cap or a budget. */
  contendedGrantPollIntervalMs: 20,
  /** Time without a booking after which a shard returns its unused rest. */
  grantIdleMs: 5_000,
  /** Interval at which a shard reports its use of daily caps and budgets, and reads the use of the other shards. */
  quotaUseReportIntervalMs: 1_000,
  /** Interval at which a shard writes its click counts for even pacing, and reads those of the other shards. */
  clickCountExchangeIntervalMs: 60 * 60 * 1000,
  /** Maximum time that a shard that starts waits until all shards have declared their use of daily caps and budgets, before it listens. */
  declarationsWaitMsMax: 10_000,
  declarationsPollIntervalMs: 20,
  /** Maximum number of grants that a shard changes in one transaction, which locks the file for some milliseconds. */
  grantRequestsPerCallMax: 100,
  /** Pause between two such transactions, in which other shards can write. */
  grantCallPauseMs: 2,
  /** Number of days, and of months, whose grants are stored. A wrong clock can add periods in the future. */
  quotaPeriodsStoredMax: 16,
  /** Maximum number of kinds and periods of an offer for which a process stores the use by other shards. */
  usesElsewhereMax: 64,
  /** Maximum time that one change of the grants blocks a shard while another shard writes. */
  quotaStoreLockTimeoutMs: 20,
  /** The same before a shard serves. Other shards that start write their use of all limits. */
  quotaStoreOpenTimeoutMs: 5_000,
  /** Number of failures in a row, because other shards lock the grants, after which a shard logs an error. */
  quotaStoreBusyFailuresMax: 50,
  /** Delay between attempts to switch a new SQLite file to WAL mode. */
  sqliteWalRetryDelayMs: 5,
  /** Attempts to start a transaction while the write-ahead log of a database is empty, and the delay between them. */
  databaseFreezeAttemptsMax: 200,
  databaseFreezeRetryDelayMs: 50,
  /** Maximum time for which an attempt waits for a lock, and blocks the writers of the database. */
  databaseFreezeLockTimeoutMs: 100,
  /** Number of bytes of a database that are copied at a time: a multiple of every page size. */
  databaseCopyChunkBytes: 64 * 1024,
  /** If a higher share of the pages of a database differs from the earlier copy, the whole database is copied. */
  databaseChangedPagesShareMax: 0.25,
  /** Interval at which the inventory of the data folder is written if it has changed. */
  inventoryWriteIntervalMs: 60_000,

  // Snapshots (docs/contributing/decisions/snapshots.md)
  /** Pause between two snapshots of the state of the service, from which a restart continues. */
  snapshotIntervalMs: 60_000,
  /** Maximum size of the list of the files of a snapshot. A file takes about 150 bytes, and a million live sessions about 80 files. */
  snapshotContentBytesMax: 16 * 1024 * 1024,
  /** Number of bytes of a snapshot that are written between two syncs. */
  snapshotSyncBytes: 2 * 1024 * 1024,
  /** Pause of a snapshot after each slice of work in the main thread. A slice takes at most a few milliseconds. */
  snapshotPauseMs: 2,
  /** A slice that makes fewer bytes takes too little time for a pause. */
  snapshotPauseBytesMin: 4_096,
  /** Maximum number of sessions in one file of a snapshot, which is written again when one of its sessions changes. */
  sessionsPerPieceMax: 16_384,
  idempotencyKeysPerPieceMax: 65_536,
  /** Number of sessions or Idempotency-Keys that a snapshot copies in one slice. */
  snapshotRecordsPerChunk: 1_024,
  /** Number of offers whose bookings a snapshot copies in one slice. */
  bookingsPerChunk: 1_000,

  // Widgets (docs/contract.md#widget)
  /** Maximum number of requests per minute from all widgets of one session; further requests get 429. */
  widgetRequestsPerMinute: 120,
  /** Maximum number of widget loads of one session that count as views; later widget loads still show offers. */
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
  /** Maximum confirmed revenue of one session. */
  confirmedRevenueUsdMax: 100_000,
  txidCharactersMax: 128,
  confirmationRowsPerRequestMax: 500,
  /** Digits of a decimal number that a 64-bit floating-point number always stores exactly. */
  exactDecimalDigitsMax: 15,
  confirmationBodyBytesMax: 512 * 1024,
  /** Maximum number of queued batches of confirmations; further batches get 503. */
  confirmationQueueBatchesMax: 16,
  /** Maximum length of one row in a confirmation file. */
  confirmationFileRowCharactersMax: 8 * 1024,
  /** Maximum number of times that `marketplace confirm` sends one batch. */
  confirmAttemptsMax: 5,
  /** Delay before the first retry of `marketplace confirm`. */
  confirmRetryDelayMs: 500,

  // Limits (docs/contract.md#rate-limits)
  requestsPerMinuteDefault: 500,
  analyticsPerMinuteDefault: 50,
  sessionsPerDayDefault: 10_000,
  /**
   * Number of UTC days for which the sessions of an API key and the recorded clicks of sessions are counted in memory. A wrong clock can add
   * days.
   */
  countedDaysStoredMax: 4,
  /** Time for which an idle API key keeps its counts of sessions. The monotonic clock measures this time. */
  sessionCountsKeptMs: 2 * 24 * 60 * 60 * 1000,
  rateLimitWindowMs: 60_000,
  /** Maximum configurable number of requests per minute of an API key. The rate limiter stores the time of each request. */
  limitPerMinuteMax: 1_000_000,
  limitPerDayMax: 1_000_000_000,

  // Verticals (docs/contract.md#verticals)
  /** Largest vertical number. In a sub_id, seven bits encode the vertical number. */
  verticalNumberMax: 127,
  verticalSegmentCharactersMax: 64,

  // Keys (docs/contract.md#api-keys)
  apiKeyCharactersMax: 128,
  apiKeyPrefixCharactersMax: 32,
  /** Interval at which the server reloads changed API keys. A changed API key must take effect within two seconds. */
  apiKeyPollIntervalMs: 1_000,
  /** Minimum time between two reloads of the API keys if requests contain unknown API keys. */
  unknownApiKeyPollIntervalMs: 100,
  /** Number of changes to API keys and origins that are loaded in one event-loop turn, which takes a few milliseconds. */
  apiKeyChangesPerTurn: 500,
  /**
   * Maximum time that a reload of API keys waits for a lock on the key file. A reload that waits for the lock blocks the event loop. If the
   * key file stays locked, the service keeps the API keys that it loaded earlier.
   */
  apiKeyReadLockTimeoutMs: 20,
  /** Maximum number of entries in the cache of key IDs and in the cache of account names; full caches use a few hundred kB. */
  callerNameCacheEntriesMax: 4_096,
  /** Maximum time that a command waits for the lock on the key file. */
  apiKeyCommandLockTimeoutMs: 5_000,
  /** Maximum time that the server waits for the write lock on the key file. A server that waits for the lock blocks the event loop. */
  apiKeyServerLockTimeoutMs: 100,
  accountNameCharactersMax: 64,

  // Audit log (docs/operating.md#audit-log)
  /** Maximum time that a command waits for the lock on the audit log. */
  auditCommandLockTimeoutMs: 5_000,
  /** Maximum time that the server waits for the write lock on the audit log. A server that waits for the lock blocks the event loop. */
  auditServerLockTimeoutMs: 100,
  /** Longer subjects and names of actors are truncated. */
  auditTextCharactersMax: 300,
  /** Longer details are left out. The 64 origins of an account fit. */
  auditDetailsCharactersMax: 32_768,
  /** Number of entries that a command reads at once. */
  auditEntriesPerRead: 1_000,
  /** Maximum number of entries that `marketplace audit list` prints. */
  auditEntriesListedMax: 1_000_000,
  /** Maximum number of entries that wait while the audit log cannot be written. */
  auditEntriesWaitingMax: 1_000,
  /** Delay between attempts to write the waiting entries. */
  auditRetryIntervalMs: 5_000,

  /** Largest Unix time in milliseconds that a JavaScript `Date` can represent. */
  timestampMsMax: 8_640_000_000_000_000,
  /** Each request deletes the unused counters of at most this number of API keys, which takes a few microseconds. */
  keyUsagesFreedPerRequest: 64,

  // Embed origins
  /** Maximum number of embed origins of one account. With 64 origins of 255 characters, the CSP header has about 16 KiB. */
  embedOriginsPerAccountMax: 64,
  originCharactersMax: 255,

  // Consoles (docs/contract.md#consoles)
  /** Lifetime of a login at a console. */
  consoleLoginMs: 8 * 60 * 60 * 1000,
  /** Size of the random value in the cookie of a login. */
  consoleTokenBytes: 32,
  /** Maximum number of logins with one API key or operator token; a further login ends the oldest. */
  consoleLoginsPerSecretMax: 16,
  /** Maximum number of logins at each console (about 500 bytes each); a further login ends the oldest of this console. */
  consoleLoginsMax: 4_096,
  /** Maximum number of logins per minute with one API key or operator token. */
  consoleLoginsPerMinute: 16,
  /** Maximum number of requests per minute of one login. A page of a console needs about ten requests. */
  consoleRequestsPerMinute: 300,
  /** Number of failed logins per minute of one client address that get 401; further ones get 429. */
  consoleLoginFailuresPerMinute: 10,
  /** Maximum number of client addresses whose failed logins are counted. */
  consoleFailingAddressesMax: 10_000,

  // Test clock (docs/operations-api.md#test-clock)
  /** Maximum number of days by which one request advances the test clock. */
  testClockDaysPerRequestMax: 92,
  /** Maximum number of days that the test clock is ahead. Timestamps must have years of four digits. */
  testClockDaysMax: 36_500,
  testClockFileBytesMax: 1_024,

  // Analytics (docs/contract.md#analytics)
  subIdListMax: 500,
  analyticsDefaultDays: 30,
  /** Default number of days before today for which an analytics summary reports final revenue. */
  maturedDefaultDays: 180,
  topLendersMax: 20,
  /** Maximum number of recent days by which lists of referrer tags and experiments can be limited. */
  recentDaysMax: 92,
  /** Maximum and default number of items (days or rows) on one page of analytics. */
  analyticsPageItemsMax: 100,
  /** Minimum retention in days. Clicks and confirmations can no longer change the data of a session that is 140 days old. */
  retentionDaysMin: 140,
  retentionDaysMax: 36_500,
  /** Interval at which the service deletes data that is older than the retention period. */
  retentionCheckIntervalMs: 60 * 60 * 1000,
  retentionRetryDelayMs: 60 * 1000,
  /** Maximum number of analytics queries queued for the aggregator thread; further analytics requests get 503. */
  analyticsQueueQueriesMax: 1_024,
  /** Maximum number of them from one account, so that an account with many requests leaves room for the others. */
  analyticsQueueQueriesPerAccountMax: 512,
  /** Maximum number of unanswered queries in the aggregator thread. Queries that the aggregator thread has received cannot be cancelled. */
  analyticsQueriesInFlightMax: 32,
  /** Maximum number of them from one account. A query of another account waits for these, and not for all queries of the account. */
  analyticsQueriesInFlightPerAccountMax: 4,
  /** Time after which a waiting analytics query is rejected, because the deadline of its HTTP request has passed. */
  analyticsQueryTimeoutMs: 2_000,

  // Experiments (docs/contract.md#experiments)
  experimentArmsMin: 2,
  experimentArmsMax: 10,
  experimentsPerTenantMax: 1_000,
  experimentDimensionsMax: 3,
  /** Maximum number of values of a dimension with figures of their own. */
  dimensionValuesMax: 50,
  /** Maximum number of characters of an arm's label, so that results, whose sentences contain labels, fit into a log record. */
  experimentLabelCharactersMax: 64,
  /** Maximum number of characters of a hypothesis and of a note. */
  experimentTextCharactersMax: 500,
  /** Maximum number of days from the creation of an experiment to its first day, before or after it, and from the first to the last day. */
  experimentDaysMax: 730,
  /** Largest `min_effect_percent`: ten times the control's mean. */
  experimentEffectPercentMax: 1_000,
  /** Maximum number of sessions per day for which an experiment is planned. */
  plannedSessionsPerDayMax: 100_000_000,
  /** Closed days from which the plan of an experiment takes the sessions per day of a page: four weeks. */
  planRateDays: 28,
  /** Maximum number of changes of experiments per minute of a tenant. Each change adds a record to the ledger and an entry to the audit log. */
  experimentChangesPerMinute: 30,
  /** Maximum number of tenants whose changes of experiments are counted (about 500 bytes each). */
  experimentChangesTenantsMax: 4_096,
  /** Maximum number of queued changes of experiments; further changes get 503. */
  experimentChangesQueuedMax: 64,
  /** Maximum number of cached experiments whose arms are assigned. A definition has a few kB. */
  assignedExperimentsCachedMax: 1_000,
  /** Minimum weight of an arm. With a smaller share, the arm would get no comparison, and the check of the split would mean nothing. */
  armWeightMin: 0.001,
  /** Maximum deviation of the sum of all weights from 1. */
  weightSumTolerance: 1e-9,
  /** Maximum number of the latest looks that a series has for each arm. */
  experimentSeriesLooksMax: 400,
  /** Maximum number of days that the service can wait for late confirmations before the revenue of a session is final. */
  confirmationGraceDaysMax: 45,
  confirmationGraceDaysDefault: 7,
  /** Days after the day of a session in which its revenue counts in an experiment, if clicks confirm their own revenue; else `maturedDays`. */
  clickRevenueDays: 7,
  /** Minimum number of mature cohort days of each arm, so that every weekday counts twice before the first comparison. */
  matureDaysMin: 14,
  /** Minimum number of units with revenue for a prediction from revenue that is not final. */
  earlyReadUnitsMin: 50,
  /** Maximum number of experiments whose concentration of revenue is cached; each takes about 2 kB. */
  concentrationsCachedMax: 1_000,
  /** Maximum number of units of an experiment on one page. The main thread renders 2,000 units as CSV in 5 to 15 ms. */
  experimentUnitsPageMax: 2_000,
  /** Maximum number of sessions, or of days of visitors, that the aggregator thread reads for one page of units. */
  unitRecordsReadMax: 5_000,
  /** Minimum number of units with revenue of all arms for a comparison with capped revenue. */
  cappedUnitsMin: 200,
  /** Value of the test martingale from which the split of the units is not the intended one; an intended split reaches it in 0.1 %. */
  splitMartingaleMax: 1_000,
  /** Maximum part of an arm's visitors that also saw other arms. */
  visitorsInSeveralArmsShareMax: 0.1,
  /** Part of an arm's visitors that also saw other arms from which the results have a warning. */
  visitorsInSeveralArmsShareWarned: 0.01,
  /** Maximum part of the sessions without `unit_id` if the unit is a visitor. */
  sessionsWithoutUnitShareMax: 0.05,
  /**
   * Minimum number of visitors in several arms, or of sessions without `unit_id`, for a warning or invalid results. Fewer are often tests of the
   * page, and their share is large only while the experiment is small.
   */
  visitorFaultsMin: 10,

  // Operations
  /** Maximum number of items on a page of the operations listener. A page of keys takes about 3 ms. */
  operatorPageItemsMax: 200,
  /** Number of days of the figures of offers over all accounts. */
  offerTotalDays: 30,
  /** Maximum number of errors of a failed catalog reload that `GET /catalogs` shows. */
  reloadErrorsShownMax: 20,
  /** Maximum length of the JSON text of a changed value in the comparison of two catalogs; longer values are left out. */
  changedValueCharactersMax: 1_000,
  /** Size of a comparison from which the values of further members are left out. */
  catalogComparisonBytesMax: 16 * 1024 * 1024,
  catalogComparisonsStoredMax: 4,
  /** Maximum time that a request waits for the comparison of two catalogs. The comparison continues for later requests. */
  catalogComparisonWaitMs: 1_500,
  /** Value of the `Retry-After` header if an archived catalog cannot be read. Reading it again takes a part of a second. */
  archiveRetryAfterSeconds: 30,
  /** Maximum number of comparisons that wait for a running one; further requests get 503. */
  catalogComparisonQueueMax: 8,
  /** Maximum number of keys or origins for which `GET /keys` or `GET /origins` needs no `limit`. */
  unpagedItemsMax: 1_000,
  /** Interval at which the times of the last uses of keys are written to a file. */
  keyUseWriteIntervalMs: 5 * 60 * 1000,
  /** Maximum size of the file with the last uses. A key has at most 25 bytes. */
  keyUseFileBytesMax: 64 * 1024 * 1024,
  /** Number of last uses that are encoded in one turn of the event loop (about 1 ms). */
  keyUsesEncodedPerTurn: 5_000,
  /** Maximum time that a metrics scrape waits for another thread or the disk; metrics that time out are omitted. */
  scrapeReadTimeoutMs: 250,
  loopDelaySampleIntervalMs: 20,
  /** Maximum number of stored samples of the ledger position, from which the analytics lag is computed. */
  analyticsLagSamplesMax: 512,
  /** Initial interval between two samples of the ledger position; the interval doubles whenever `analyticsLagSamplesMax` is reached. */
  analyticsLagSampleIntervalMs: 100,

  // Configuration
  portMax: 65_535,
  shardsMax: 64,
  /** `PIPE_BUF` of Linux. */
  atomicPipeWriteBytes: 4_096,
  /** Minimum heap size of a shard. */
  shardHeapMegabytesMin: 64,
  /** Delay before a shard that ended is started again. The delay doubles each time. */
  shardRestartDelayMinMs: 250,
  shardRestartDelayMaxMs: 30_000,
  /** Time of service after which the delay before the next start is the minimum again. */
  shardStableMs: 60_000,
  /** Maximum time that a supervisor waits for the shards of an earlier supervisor, which are still draining. */
  earlierShardsWaitMs: 15_000,
  earlierShardsPollMs: 100,
  /** Maximum time that a supervisor waits for the health or the metrics of a shard. */
  shardAnswerTimeoutMs: 1_000,
  /** Time before the deadline of a request at which a supervisor answers without the shards that are silent. */
  shardAnswerMarginMs: 100,
  /** Maximum size of an answer of a shard to an operator. */
  shardAnswerBytesMax: 64 * 1024 * 1024,
  matcherThreadsMax: 256,
  sessionLimitMax: 1_000_000_000,
  corsOriginsMax: 64,
  opsAllowedHostsMax: 64,
  /** Maximum number of characters of a setting's value in an error message. */
  settingCharactersShown: 80,

  // Command line
  /** Maximum time that a command waits for the response of a server to one request. */
  commandRequestTimeoutMs: 10_000,
  /** Delay before a command shows its progress bar, so that a fast command shows none. */
  progressBarDelayMs: 1_000,
  progressBarRedrawIntervalMs: 100,
  /** Interval at which a starting server without a terminal logs its progress. */
  restoreProgressLogIntervalMs: 5_000,
  logInspectRecordsDefault: 20,

  // Capacity planner
  plannedKeysMax: 1_000_000_000,
  plannedSloMsMax: 60_000,
  /** Maximum size of a benchmark result file. The result file of a full benchmark has a few hundred kB. */
  benchResultFileBytesMax: 64 * 1024 * 1024,
  mixFileBytesMax: 64 * 1024,
  /** Maximum duration of the load in a capacity check. */
  capacityCheckSecondsMax: 3_600,
  /** Maximum number of live sessions that a capacity check creates before the load. */
  capacityCheckSessionsMax: 10_000_000,
  /** Maximum number of requests of a capacity check. Each request is created in advance and takes about 1 kB of memory. */
  capacityCheckRequestsMax: 2_500_000,

  // Event log
  logSegmentBytesMax: 64 * 1024 * 1024,
  /** Maximum payload of one log record. The largest log records (sessions with maximum metadata) are much smaller than 64 KiB. */
  logRecordBytesMax: 64 * 1024,
  /** Maximum length of a log record, which is an array, and of each array inside a log record. */
  logRecordItemsMax: 64,
  logReadChunkBytes: 1024 * 1024,
  /** Number of log records that are read in one event-loop turn, which takes 1 to 2 ms. */
  logRecordsReadPerTurn: 1_000,
  /** Number of log records that are read in one slice while requests are served, which takes less than 1 ms. */
  logRecordsReadPerSlice: 125,
  /** Pause after such a slice. */
  logReadPauseMs: 2,
  /** Number of bytes that are preallocated after the last record of a log, so that most `fsync` calls need not update the file size. */
  logPreallocationBytes: 256 * 1024,
  /** Initial size of the buffer for the records that an event log writes together; the buffer grows for larger writes. */
  logGroupInitialBytes: 64 * 1024,
  logRetryIntervalMs: 1_000,
  /**
   * Maximum delay before appended log records are written if no caller waits for the write. An analytics query waits until all log records
   * that were appended before the query are written.
   */
  logLingerMs: 5,
  /** Maximum total size of the records that are appended but not durable yet; at the maximum, requests that append a record get 503. */
  logPendingBytesMax: 16 * 1024 * 1024,
  /**
   * Time after which the journal continues in a new log (see `FileJournal`). The journal deletes a log when all sessions with changes in
   * the log have expired.
   */
  journalRotationIntervalMs: 15 * 60 * 1000,
  /** Interval at which the journal checks whether to create a new journal log or delete old journal logs. */
  journalMaintenanceIntervalMs: 60_000,
  /** Maximum time by which the wall clock may be set back without a loss of live sessions at the next restart. */
  clockSetBackMsMax: 60 * 60 * 1000,
  /** Maximum number of log records that the aggregator thread applies in one transaction. */
  projectionBatchRecordsMax: 8_192,
  /**
   * Maximum time for which the aggregator thread collects log records for one transaction; shorter if a batch is full or an analytics query
   * waits. With a maximum of 250 ms, a session needs 32.6 us of CPU time under load; with 20 ms, a session needs 35.3 us.
   */
  projectionLingerMs: 250,
  /** Number of positions of an offer that analytics distinguish; the last one includes all later positions. */
  offerPositionsMax: 20,
  /** Maximum number of changed sums of offers that the aggregator thread collects before it writes them. */
  offerTotalsBufferedMax: 8_192,
  /** Maximum number of names (tags, offers, lenders) whose row IDs the aggregator thread caches. */
  projectionNameCacheEntriesMax: 20_000,
  /** Maximum number of sessions whose row IDs the aggregator thread caches. */
  projectionSessionCacheEntriesMax: 20_000,
  /** Maximum number of session IDs in one database row, so that the row needs no SQLite overflow pages. */
  cohortRowSessionsMax: 30,
  /** Maximum number of sessions beyond the retention period that the aggregator thread deletes in one transaction. */
  sessionsPrunedPerTransaction: 100,
  /** Maximum number of records that the aggregator thread writes to the archive of daily counters, or reads back, at once. */
  recordsArchivedPerCall: 10,
  /** Pause after such a call. */
  retentionPauseMs: 1,
  /** If records change a day while it is archived, its archive segment is started again, at most this number of times in small parts. */
  archiveRestartsMax: 3,
  /** Maximum number of earlier sessions of a new experiment that the aggregator thread counts in one transaction. */
  sessionsFilledPerTransaction: 500,
  /**
   * About the number of visitors of experiments that the aggregator thread searches at once for the days to be archived, in about 4 ms.
   */
  visitorsSearchedPerCall: 10_000,
  /** Maximum number of visitors to be archived that the aggregator thread keeps in memory, with about 250 bytes each. */
  archivedVisitorsInMemoryMax: 100_000,
  /** Maximum number of referrer tags of all tenants in one reply of the aggregator thread, so that a reply takes only milliseconds. */
  numberedTagsPerPage: 5_000,
  /** Maximum number of experiments of all tenants in one reply of the aggregator thread. A definition has a few kB. */
  hashExperimentsPerPage: 200,
  /** A checkpoint starts when the write-ahead log of the analytics store has this number of pages of 4 KiB. */
  analyticsStoreCheckpointPages: 4_000,
  analyticsStoreCacheKibibytes: 16 * 1024,
  /** Maximum length of a tag, offer ID, lender name or catalog version in the ledger. */
  ledgerNameCharactersMax: 256,
  /** Maximum preliminary revenue of one click, so that sums over many clicks fit into 64-bit integers. */
  clickValueMicrosMax: 1_000_000_000_000,
  /** Maximum heap size of the aggregator thread. Batches of ledger records and the caches use only a small part of this heap. */
  aggregatorHeapMegabytes: 256,
  /**
   * Initial restart delay of the aggregator thread. Each restart doubles the delay, up to `aggregatorRestartDelayMaxMs`. If the thread
   * applied ledger records before it exited, the restart delay is reset to the initial value.
   */
  aggregatorRestartDelayMinMs: 100,
  aggregatorRestartDelayMaxMs: 5_000,
  /** Maximum time to wait for the running batch of the aggregator thread when the service stops. */
  aggregatorCloseTimeoutMs: 5_000,
} as const;

// The longest definition of an experiment fits into a log record, even if every character is escaped as 6 bytes.
assert(
  (bounds.experimentTextCharactersMax +
    bounds.experimentLabelCharactersMax * bounds.experimentArmsMax +
    bounds.metadataCharactersMax * bounds.experimentDimensionsMax) *
    6 +
    4_096 <
    bounds.logRecordBytesMax,
);
// The longest session metadata fits into a log record, even if every character is escaped as 6 bytes.
assert(bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 6 + 1_024 < bounds.logRecordBytesMax);
// The JSON text that is hashed to compare two requests can contain the longest session metadata and the longest user agent. JSON inside a
// JSON string escapes a metadata character as up to 7 bytes, such as `\\u0001`.
assert(
  bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 7 + bounds.userAgentCharactersMax * 6 + 1_024 <
    bounds.idempotencyPayloadBytesMax,
);
// In a URL, each sub_id takes 68 characters, and the separator `%2C` takes 3. A request head without sub_ids is only a few hundred bytes
// long.
assert(bounds.subIdListMax * (68 + 3) + 4_096 <= bounds.requestHeadBytesMax);
// A character of a request head has up to three bytes in UTF-8. A frame contains a head or a body.
assert(3 * bounds.requestHeadBytesMax + 1_024 <= bounds.requestFrameBytesMax);
assert(bounds.requestBodyBytesMax + 1_024 <= bounds.requestFrameBytesMax);
assert(bounds.offersShownDefault <= bounds.offersShownMax);
assert(bounds.offersShownMax <= bounds.offerPositionsMax);
// An archive record contains the day, the id and the first position of an offer, and its counts.
assert(bounds.offerPositionsMax + 3 <= bounds.logRecordItemsMax);
// A click token consists of 42 bytes, encoded in base64url. A ranking is stored in 32-bit words with two offer indices each, so the number
// of ranked offers must be even.
assert(Math.ceil(((30 + bounds.catalogVersionCharacters) * 4) / 3) <= bounds.clickTokenCharactersMax);
assert(bounds.clickTokenCharactersMax % 4 === 0 && bounds.offersRankedMax % 2 === 0);
assert(bounds.offersShownMax <= bounds.offersRankedMax && bounds.offersRankedMax < 2 ** 8);
assert(bounds.catalogOffersMax < 2 ** 16);
// The names and payouts in a valid catalog do not exceed the maximums for ledger records. Ledger readers skip records that exceed these
// maximums.
assert(bounds.offerIdCharactersMax <= bounds.ledgerNameCharactersMax);
assert(bounds.lenderNameCodePointsMax * 2 <= bounds.ledgerNameCharactersMax);
assert(bounds.catalogVersionCharacters <= bounds.ledgerNameCharactersMax);
assert(bounds.payoutUsdMax * 1_000_000 <= bounds.clickValueMicrosMax);
// The sum of the largest budget and the amount of one more click is a safe integer, so the booked revenue of an offer in a month is exact.
assert((bounds.budgetUsdMax + bounds.payoutUsdMax) * 1_000_000 <= Number.MAX_SAFE_INTEGER);
// A click can ask for a grant several times, also after another shard has returned its unused rest.
assert(bounds.contendedGrantPollIntervalMs + 2 * bounds.grantRetryIntervalMs < bounds.grantWaitMsMax);
// The figures of a day are deleted from memory before its grants are deleted.
assert(
  bounds.bookedDaysStoredMax < bounds.quotaPeriodsStoredMax &&
    bounds.bookedMonthsStoredMax < bounds.quotaPeriodsStoredMax,
);
// Every day has the same whole number of slots.
assert((24 * 60 * 60 * 1000) % bounds.clickDistributionSlotMs === 0);
// A sort key combines an amount and two interest rates in one safe integer. Rates are in hundredths of a percent.
assert(bounds.aprPercentMax * 100 < 2 ** 12 && bounds.offerAmountUsdMax * 2 ** 24 < 2 ** 52);
assert(bounds.catalogTermsMax < 31);
// A first-year value before rounding is an integer in parts of a cent (`firstYearValueUnitsPerCent` of the credit cards). Each summand of
// the value is below 2^50. The summands are rewards on the purchases of 12 months, a transfer fee in percent or in cents, and interest.
// Interest is the product of two sums: the sum of the opening balances of 12 months (78 twelfths of the amount), and the sum of the two
// ends of an APR range in hundredths of a percent.
const cardUnitsPerCent = 12 * 12 * 100 * 2;
assert(
  bounds.cardAmountUsdMax * bounds.cardRewardPercentMax * 12 * cardUnitsPerCent < 2 ** 50 &&
    bounds.cardAmountUsdMax * bounds.cardFeePercentMax * cardUnitsPerCent < 2 ** 50 &&
    bounds.cardFeeUsdMax * 100 * cardUnitsPerCent < 2 ** 50 &&
    bounds.cardAmountUsdMax * 78 * (2 * bounds.aprPercentMax * 100) < 2 ** 50,
);
// A sort key of a mortgage combines an amount and an APR of 12 bits in one safe integer. The number of a combination of rate, term and rate
// adjustment has 16 bits.
assert(bounds.mortgagePropertyValueUsdMax * 2 ** 12 < 2 ** 52 && bounds.mortgageSchedulesMax <= 2 ** 16);
// The revenue of a click in micro-dollars is a sort key (`selectLowest`).
assert(bounds.payoutUsdMax * 1_000_000 < 2 ** 52);
// Counters are archived at least 30 days after the last click or confirmation that can change the counters.
assert(bounds.clickAttributionMs + bounds.confirmationWindowMs < (bounds.retentionDaysMin - 30) * 24 * 60 * 60 * 1000);
assert(bounds.clickDurabilityTimeoutMs < bounds.requestDeadlineMs);
assert(bounds.catalogComparisonWaitMs < bounds.requestDeadlineMs);
// The cells of the count-min sketch have one byte, so a count is at most 255. A cell of
// the count-min sketch is selected by at most 24 bits of a hash.
assert(bounds.clicksRecordedPerSessionMax <= 255 && bounds.clickAttributionMs <= 24 * 60 * 60 * 1000);
assert(Number.isInteger(Math.log2(bounds.sessionClickCells)) && bounds.sessionClickCells <= 2 ** 24);
// A metrics scrape completes before the request deadline even if four metrics time out.
assert(bounds.scrapeReadTimeoutMs * 4 <= bounds.requestDeadlineMs);
// A supervisor answers before the request deadline even if a shard is silent.
assert(bounds.shardAnswerTimeoutMs < bounds.requestDeadlineMs);
assert(bounds.earlierShardsWaitMs > bounds.drainDeadlineDefaultMs);
// A matching thread is terminated only if the requests of its batch can no longer be answered.
assert(bounds.requestDeadlineMs < bounds.matchBatchTimeoutMs);
assert(bounds.matchThreadRestartDelayMs < bounds.requestDeadlineMs);
// The default drain deadline is longer than a request deadline, so that pending requests can be answered before the service stops.
assert(bounds.requestDeadlineMs + bounds.deadlineCheckIntervalMs < bounds.drainDeadlineDefaultMs);
assert(bounds.clickAttributionMs + bounds.sessionTtlMs <= bounds.replacedCatalogRetentionMs);
assert(bounds.replacedCatalogWaitMs + 2 * bounds.deadlineCheckIntervalMs < bounds.requestDeadlineMs);
// A log record has fewer than 2^24 bytes, so its length leaves the highest bit of the 32-bit length field free for the sync mark.
assert(bounds.logRecordBytesMax * 2 <= bounds.logReadChunkBytes && bounds.logRecordBytesMax < 2 ** 24);
assert(bounds.offersShownMax <= bounds.logRecordItemsMax && bounds.widgetEventsPerBatchMax <= bounds.logRecordItemsMax);
// In the array of a journal batch, each change takes two elements, so the maximum number of elements must be even.
assert(bounds.logRecordItemsMax % 2 === 0);
assert(bounds.logRecordBytesMax < bounds.logSegmentBytesMax && bounds.logPendingBytesMax < bounds.logSegmentBytesMax);
// The sum of all click values in one batch of the aggregator thread is a safe integer.
assert(bounds.projectionBatchRecordsMax * bounds.clickValueMicrosMax <= Number.MAX_SAFE_INTEGER);
// A request body of maximum size can contain the maximum number of confirmation rows if each row has 1 KiB.
assert(bounds.confirmationRowsPerRequestMax * 1_024 <= bounds.confirmationBodyBytesMax);
// The longest row of a confirmation file fits into a request body, even if every character is escaped as 6 bytes of JSON.
assert(bounds.confirmationFileRowCharactersMax * 6 <= bounds.confirmationBodyBytesMax);
assert(bounds.txidCharactersMax <= bounds.ledgerNameCharactersMax);
// The maximum confirmed revenue of a session is at least the maximum payout of an offer, so that every payout can be confirmed. The square
// of the maximum confirmed revenue in cents is a safe integer.
assert(
  bounds.payoutUsdMax <= bounds.confirmedRevenueUsdMax &&
    (bounds.confirmedRevenueUsdMax * 100) ** 2 <= Number.MAX_SAFE_INTEGER,
);
