/**
 * Every bound of the service: its value, its unit (in the name) and where it comes from. What a caller can make us hold,
 * wait for or repeat is bounded by a line of this file; the relations between lines are asserted below, at import.
 */
import assert from 'node:assert/strict';

export const bounds = {
  // HTTP (docs/contract.md#request-bodies, docs/contributing/native-http.md)
  /** Request line and headers together, enough for the longest list of ids. The engine answers 431 beyond it. */
  requestHeadBytesMax: 40 * 1024,
  requestBodyBytesMax: 64 * 1024,
  /** From the request's head to its answer; then 503. */
  requestDeadlineMs: 2_000,
  /** How late the deadline may be noticed. */
  deadlineCheckIntervalMs: 100,
  /** How long a connection may take for a head or a body, or stay idle; the native engine's own figure, which cannot be set. */
  connectionIdleTimeoutMs: 10_000,
  /** How late the node listener may notice that. */
  connectionCheckIntervalMs: 1_000,
  /** Requests of one connection that may wait for answers (node listener; the native engine takes one). */
  pipelinedRequestsMax: 16,
  /**
   * Answers that clients have not read, of all connections of a listener together; beyond it the connection that has made no progress
   * for the longest is closed. Each counts what its engine may buffer for it, too.
   */
  unsentReplyBytesMax: 24 * 1024 * 1024,
  engineBufferBytesPerConnection: 16 * 1024,
  /**
   * Native engine: bytes of answers that one connection is sent, on average, between two checks of whether its client reads. The checks
   * are drawn at random, so that a client cannot avoid them.
   */
  bytesBetweenReadChecksMean: 32 * 1024,
  /** Native engine: requests answered within one turn of the event loop. Later ones are answered in the next turn. */
  repliesPerTurnMax: 256,
  /** What a drain waits for requests in flight before it closes their sockets, unless it is told otherwise. */
  drainDeadlineDefaultMs: 5_000,
  drainDeadlineSecondsMax: 600,
  /** How long a service that is to stop may be told to go on taking connections. */
  drainDelaySecondsMax: 600,
  /** What is left for an orderly end once something went wrong that nobody foresaw. */
  crashCloseTimeoutMs: 2_000,
  /** A certificate or a key: chains have some ten kilobytes. */
  certificateFileBytesMax: 1024 * 1024,
  /** How often the certificate's files are looked at, and how long they are left alone after a change: they are two. */
  certificatePollIntervalMs: 1_000,
  certificateReloadDelayMs: 1_000,
  /** From when on a certificate's end is warned of, and how often. */
  certificateExpiryWarningMs: 14 * 24 * 60 * 60 * 1000,
  certificateExpiryCheckIntervalMs: 12 * 60 * 60 * 1000,
  /** The longest list in a header, such as `Accept`, that is taken apart; browsers send a few hundred characters. */
  headerListCharactersMax: 1_024,
  /** How long a script or logo is used without asking again, when its address does not name its content. */
  staticMaxAgeSeconds: 300,
  /** The same where its address does: a year, the longest a cache may be told. */
  immutableMaxAgeSeconds: 31_536_000,
  /** Retry-After of a 503. */
  retryAfterSeconds: 1,

  // Logs
  /** Lines that each kind of refusal may take in a second, and after a quiet time at once; the rest is counted. */
  refusalLogLinesPerSecond: 5,
  refusalLogLinesBurst: 20,
  /** How often the log says how many lines were left out. */
  refusalLogSummaryIntervalMs: 1_000,
  /** Lines that wait for whoever reads the log; beyond it they are left out. */
  loggerBufferBytesMax: 4 * 1024 * 1024,
  /** How long the end of the process waits for the log's reader. */
  loggerFlushTimeoutMs: 2_000,

  // Sessions (docs/contract.md#sessions)
  sessionTtlMs: 4 * 60 * 60 * 1000,
  userAgentCharactersMax: 1024,
  /** Distinct user agents whose device class is remembered: about 8 MB at their longest. */
  userAgentCacheEntriesMax: 4_096,
  /** Different referrer tags an account may use in one vertical and mode unless told otherwise: each keeps daily figures for ever. */
  referrerTagLimitDefault: 100_000,
  /** The largest such limit. An account that reaches it takes up to 80 MB of memory, with all tags at their longest. */
  referrerTagLimitMax: 1_000_000,
  /** How often a service that could not read the tags of earlier runs at its start checks whether it can. */
  referrerTagRestorePollMs: 100,
  metadataKeysMax: 10,
  metadataCharactersMax: 256,
  idempotencyKeyCharactersMax: 255,
  /** Keys remembered, each until its session ends; a keyed request beyond it gets 503. About 120 bytes each, outside the heap. */
  idempotencyKeysMax: 1_000_000,
  /** Expired keys removed before one is remembered: microseconds. */
  expiredIdempotencyKeysPerInsert: 16,
  /** The JSON text by which the payloads of two requests are compared. */
  idempotencyPayloadBytesMax: 48 * 1024,
  /** The store is many small parts: one large one would hold up everything for hundreds of milliseconds when it grows. */
  sessionStoreShards: 256,
  /** All parts are swept once in this time; expiry never waits for it. */
  sessionSweepIntervalMs: 60_000,
  /** How often a full store looks for expired sessions before it refuses a new one. */
  sessionStoreFullCheckIntervalMs: 100,
  /**
   * Heap per live session from which the default of SVC_MAX_SESSIONS is derived. What its widgets have had counted takes up to 800
   * bytes of the heap. The session, its ranking and its Idempotency-Key take some 570 bytes outside of it.
   */
  sessionHeapBytes: 2_048,
  /** Live sessions an embedding program gets unless it says otherwise: it has other uses for its heap. */
  embeddedSessionLimitDefault: 100_000,

  // Pocket fields (docs/contract.md#pocket-fields)
  fieldsMax: 64,
  fieldNameCharactersMax: 64,
  /** Unknown names of one request that an answer to a test key lists, and how much of each. */
  ignoredNamesShownMax: 64,
  ignoredNameCharactersShown: 64,

  // Offers (docs/contract.md#marketplace-answers)
  offersShownDefault: 5,
  offersShownMax: 20,
  /** Places of each order of a ranking where offers may close: 12 of the best may do so before it must be made again. */
  offersRankedMax: 32,
  /** Offers that may close or open before a ranking is made again rather than counted again: some 5 microseconds. */
  offersRecountedMax: 64,
  /** Offer indices travel as 16-bit numbers. */
  catalogOffersMax: 20_000,
  catalogFileBytesMax: 64 * 1024 * 1024,
  /** Values of one catalog file: 200 for each of the most offers, where generated ones have 80. */
  catalogValuesMax: 4_000_000,
  /** How deep a catalog file may be nested; the format needs ten levels. */
  catalogDepthMax: 64,
  /** Items of a list other than lenders and offers, and members of an object: states and bands are the longest. */
  catalogListItemsMax: 256,
  catalogObjectMembersMax: 256,
  /** The heap of the thread that reads a changed catalog. Twenty thousand generated offers need 160 MB. */
  catalogThreadHeapMegabytes: 1_024,
  /** Faults of one catalog file that are named; the rest are only counted. */
  catalogErrorsReportedMax: 1_000,
  /** How much of a member's name, and of what is wrong with it, a fault repeats. */
  catalogNameCharactersShown: 80,
  catalogErrorCharactersShown: 400,
  offerIdCharactersMax: 64,
  /** Code points, so up to twice as many UTF-16 units. */
  lenderNameCodePointsMax: 100,
  catalogVersionCharacters: 12,
  /** The `v` of a click URL, with its secret's number, nonce, credit band, catalog version and tag in base64url. */
  clickTokenCharactersMax: 64,
  payoutUsdMax: 100_000,
  /** Booked clicks of one offer in a day that a catalog may allow. */
  dailyCapClicksMax: 100_000_000,
  /** Largest loan or limit an offer may name, in whole USD. */
  offerAmountUsdMax: 100_000_000,
  /** Different terms that may occur in one catalog: a set of them is kept as the bits of one number. */
  catalogTermsMax: 24,
  /** Highest annual percentage rate an offer is ever shown with (docs/contract.md#eligibility). */
  aprPercentMax: 36,
  /** Compiled catalogs one matching worker keeps; others are loaded again when asked for. */
  matchWorkerCatalogsMax: 16,
  /** Buckets that the values of one ranged criterion are cut into, each with a bit for every offer. */
  matchIndexBucketsMax: 64,
  /** What a thread that matches holds of each catalog, beside its tables, to find the best offers without looking at all. */
  matchIndexBytesMax: 48 * 1024 * 1024,
  /** Offers of a new catalog that the front end takes over in one turn of the event loop: about a millisecond. */
  catalogTransferOffersPerTurn: 250,
  /** How often the catalog file is looked at for a change. */
  catalogPollIntervalMs: 1_000,
  /** Catalogs up to this size are ranked in the front-end thread, since the way to a worker costs it more (docs/contributing/benchmarks.md). */
  matchInThreadOffersMax: 100,
  /** Requests that may wait for the matchers; beyond it, 503. */
  matchQueueRequestsMax: 4_096,
  matchBatchRequestsMax: 64,
  /**
   * Before a matching thread is started again that ended without having answered anything; doubles in between. The longest is short of
   * a request's deadline, so that who waits for it can still be answered.
   */
  matchWorkerRestartDelayMinMs: 100,
  matchWorkerRestartDelayMaxMs: 1_000,
  /** How long a stop waits for the batches that matching threads are at. */
  matcherCloseTimeoutMs: 2_000,
  /** Offers that are explained before whatever else is waiting gets its turn: a fraction of a millisecond. */
  explainedOffersPerTurn: 256,
  /** Explanations that may wait behind the one in hand; beyond it, 503. */
  explanationQueueMax: 16,
  /** Replaced catalogs stay this long, so that a click finds what was shown (docs/contract.md#replaced-catalogs). */
  replacedCatalogRetentionMs: 28 * 60 * 60 * 1000,
  /** Replaced catalogs held at one time; a further change is refused until the oldest is out of date. */
  replacedCatalogsMax: 256,

  // Logos
  logoFileBytesMax: 64 * 1024,
  /** Logo files of one catalog that are read; lenders with others get monograms. */
  logoFilesPerCatalogMax: 2_000,
  /** Elements of a logo within one another. Browsers stop at this figure too. */
  logoElementDepthMax: 256,
  /** Declarations of namespaces in a logo. Drawing programs write a dozen on the root; some repeat one on every element. */
  logoNamespaceDeclarationsMax: 1_000,
  logoFileNameCharactersMax: 68,
  /** File names kept, each with its logos, that no catalog in use has any more. */
  unusedLogoNamesMax: 1_000,
  /** Monograms made in one turn of the event loop: about a millisecond. */
  monogramsPerTurn: 250,

  // Clicks (docs/contract.md#click-redirect)
  clickAttributionMs: 24 * 60 * 60 * 1000,
  /** A click redirects anyway when the log takes longer. */
  clickDurabilityTimeoutMs: 500,
  /** Clicks of one session on one offer that are recorded; more still redirect. Above any honest repetition. */
  clicksRecordedPerLinkMax: 10,
  /** Clicks of one session that are recorded, on whichever offers; more still redirect. */
  clicksRecordedPerSessionMax: 64,
  /** Cells in each of the four rows that count the clicks of sessions, one byte each: 4 MiB for the sessions of a day. */
  sessionClickCells: 1024 * 1024,
  /** Links whose recorded clicks are being counted at one time. */
  clickCountersMax: 200_000,
  /**
   * Pairs of a session and an offer with a daily cap that are remembered, at most 24 bytes each. Beyond it those of the
   * oldest sessions are forgotten, and a click of such a session takes a place of the cap though it may book nothing.
   */
  sessionCappedOfferPairsMax: 4_000_000,

  // Widgets (docs/contract.md#widget)
  /** Requests for offers and batches of events from one session's widgets in a minute; beyond it, 429. */
  widgetRequestsPerMinute: 120,
  /** Loads of one session's widgets that count as views; further ones show offers all the same. */
  widgetLoadsPerSessionMax: 256,
  /** Events of one batch, and those of one session that are recorded. Above any honest use. */
  widgetEventsPerBatchMax: 50,
  widgetEventsPerSessionMax: 1_000,
  widgetEventIdCharactersMax: 64,
  /** Cards that stand for offers to come, for which a page keeps room. */
  widgetPlaceholderCardsMax: 5,
  /** Random bytes of a page's nonce, and of the name of a mount. */
  widgetNonceBytes: 16,
  widgetMountIdBytes: 4,

  // Confirmations (docs/contract.md#confirmations)
  /** How long after the click a lender's word on it is taken. */
  confirmationWindowMs: 90 * 24 * 60 * 60 * 1000,
  /** How far a lender's clock may be behind or ahead of ours: a payout per click may come in the click's own millisecond. */
  confirmationClockSkewMs: 5_000,
  /** Confirmed revenue of one session, and so of one payout, in USD: squares of it stay exact numbers. */
  confirmedRevenueUsdMax: 100_000,
  txidCharactersMax: 128,
  /** Rows of one request. */
  confirmationRowsPerRequestMax: 500,
  confirmationBodyBytesMax: 512 * 1024,
  /** Batches that wait behind the one in hand; beyond it, 503. */
  confirmationQueueBatchesMax: 16,
  /** One row of a file of confirmations. */
  confirmationFileRowCharactersMax: 8 * 1024,
  /** How long the command waits for the answer to a batch, how often it sends one, and its first pause before it does so again. */
  confirmRequestTimeoutMs: 10_000,
  confirmAttemptsMax: 5,
  confirmRetryDelayMs: 500,

  // Limits (docs/contract.md#rate-limits)
  requestsPerMinuteDefault: 500,
  analyticsPerMinuteDefault: 50,
  sessionsPerDayDefault: 10_000,
  rateLimitWindowMs: 60_000,
  /** The largest limit a key may carry: the exact window keeps one number for each admitted request. */
  limitPerMinuteMax: 1_000_000,
  limitPerDayMax: 1_000_000_000,

  // Verticals (docs/contract.md#verticals)
  /** A sub_id has seven bits for it. */
  verticalNumberMax: 127,
  verticalSegmentCharactersMax: 64,

  // Keys (docs/contract.md#api-keys)
  apiKeyCharactersMax: 128,
  apiKeyPrefixCharactersMax: 32,
  /** A change made by the command line is honoured within two seconds. */
  apiKeyPollIntervalMs: 1_000,
  /** An unknown key looks for a change at once, but not more often than this. */
  unknownApiKeyPollIntervalMs: 100,
  /** Changes of keys and origins that are read before other work gets its turn: a few milliseconds. */
  apiKeyChangesPerTurn: 500,
  /** How long the server's own thread may wait for a lock on the key file; then it keeps the keys it has. */
  apiKeyReadLockTimeoutMs: 20,
  /** Key ids, and as many account names, that are remembered for the log: a few hundred kB each. */
  callerNameCacheEntriesMax: 4_096,
  /** How long a command waits for another process that is writing the key file. */
  apiKeyCommandLockTimeoutMs: 5_000,
  /** The same for a service, which answers nobody meanwhile. */
  apiKeyServerLockTimeoutMs: 100,
  /** How often a new key file tries for the lock that its journal mode needs. */
  apiKeyWalRetryDelayMs: 5,
  accountNameCharactersMax: 64,
  /** The last moment a JavaScript date can tell; an expiry beyond it could not be shown. */
  timestampMsMax: 8_640_000_000_000_000,
  /** Keys looked at in one admission for state that can be freed: a pause of microseconds, whatever the number of keys. */
  keyUsagesFreedPerRequest: 64,

  // Where widgets may be embedded
  /** Origins one account may allow: with all of them at their longest, a header that names them has some 16 KiB. */
  embedOriginsPerAccountMax: 64,
  originCharactersMax: 255,

  // Analytics (docs/contract.md#analytics)
  subIdListMax: 500,
  analyticsDefaultDays: 30,
  maturedDays: 45,
  /** Matured figures of a summary without dates go back this far. */
  maturedDefaultDays: 180,
  confidenceSessionsMin: 30,
  topLendersMax: 20,
  /** Days or rows one answer holds, and how many it does unless asked for fewer. */
  analyticsPageItemsMax: 100,
  /** The shortest retention: whatever may still count for a session is long over by then. */
  retentionDaysMin: 140,
  retentionDaysMax: 36_500,
  /** How often the service looks for days older than the retention, and how soon again when that failed. */
  retentionCheckIntervalMs: 60 * 60 * 1000,
  retentionRetryDelayMs: 60 * 1000,
  /** Questions that may wait for the aggregator; beyond it, 503. */
  analyticsQueueQueriesMax: 1_024,
  /** Of these, how many the aggregator is given at once; the others can still be dropped when their askers give up. */
  analyticsQueriesInFlightMax: 32,
  /** A question nobody could answer in this time is refused: its asker's own deadline has passed. */
  analyticsQueryTimeoutMs: 2_000,

  // Operations
  /** What a scrape waits for a figure that is asked of another thread or of the disk; without it the scrape goes on. */
  scrapeReadTimeoutMs: 250,
  /** How often it is looked how late the event loop is. */
  loopDelaySampleIntervalMs: 20,
  /** The moments at which the ledger had grown that are remembered to tell how long the analytics are behind. */
  analyticsLagSamplesMax: 512,
  /** How far apart they are at first; where they are too many, every other one goes. */
  analyticsLagSampleIntervalMs: 100,

  // Configuration
  portMax: 65_535,
  matcherThreadsMax: 256,
  sessionLimitMax: 1_000_000_000,
  corsOriginsMax: 64,
  /** Host names under which the operations listener may answer. */
  opsAllowedHostsMax: 64,
  /** How much of a refused setting an error line repeats. */
  settingCharactersShown: 80,

  // Command line
  /** Work that is over by then shows no progress. */
  progressBarDelayMs: 1_000,
  /** How often a progress bar is drawn. */
  progressBarRedrawIntervalMs: 100,
  /** How often a start that reads much back says in the log how far it is, where there is no terminal for a bar. */
  restoreProgressLogIntervalMs: 5_000,
  /** Records that `log inspect` shows unless told otherwise. */
  logInspectRecordsDefault: 20,

  // Capacity planner
  /** Keys a plan may be for. */
  plannedKeysMax: 1_000_000_000,
  plannedSloMsMax: 60_000,
  /** A full result of the benchmarks has some hundred kilobytes. */
  benchResultFileBytesMax: 64 * 1024 * 1024,
  mixFileBytesMax: 64 * 1024,
  /** How long the check of a plan loads a server, and how many live sessions it makes before that. */
  capacityCheckSecondsMax: 3_600,
  capacityCheckSessionsMax: 10_000_000,
  /** Requests of a check, all of them prepared before: about a kilobyte each. */
  capacityCheckRequestsMax: 2_500_000,

  // Event log
  logSegmentBytesMax: 64 * 1024 * 1024,
  /** One record's payload: a session with the largest metadata stays far below. */
  logRecordBytesMax: 64 * 1024,
  /** Elements of one record, and of one array within it: what a view shows, with room for members to come. */
  logRecordItemsMax: 64,
  /** How much of a log file is read at a time. */
  logReadChunkBytes: 1024 * 1024,
  /** Records of an open log that are read again before other work gets its turn: a millisecond or two. */
  logRecordsReadPerTurn: 1_000,
  /** Zeros written ahead of a log's data, so that most syncs find the file's size unchanged. */
  logPreallocationBytes: 256 * 1024,
  /** What a group of records begins with; it grows as needed. */
  logGroupInitialBytes: 64 * 1024,
  /** How often a log that cannot be written tries again. */
  logRetryIntervalMs: 1_000,
  /** How long a view may wait for company before it is stored. Analytics that ask for it wait as long. */
  logLingerMs: 5,
  /** Records appended and not yet durable; beyond it, 503. */
  logPendingBytesMax: 16 * 1024 * 1024,
  /** How long an epoch of the journal lasts; it outlives the sessions changed in it by no more. */
  journalEpochDurationMs: 15 * 60 * 1000,
  /** How often the journal looks whether it is time for a new epoch or an old one is over. */
  journalMaintenanceIntervalMs: 60_000,
  /** How far the wall clock may have been set back without a start missing a record it needs. */
  clockSetBackMsMax: 60 * 60 * 1000,
  /** Records the aggregator folds in one transaction. */
  projectionBatchRecordsMax: 8_192,
  /**
   * What the aggregator waits for more records to share a transaction, unless a question is waiting or a batch is full. Nobody
   * sees it: whoever asks is answered at once. With 20 ms a session cost 35.3 us of all threads under load, with 250 it costs 32.6.
   */
  projectionLingerMs: 250,
  /** Names (tags, offers, lenders) and sessions whose numbers the aggregator remembers, each; the rest it looks up. */
  projectionNameCacheEntriesMax: 20_000,
  projectionSessionCacheEntriesMax: 20_000,
  /** Ids the store keeps in one row of a cohort's list: with more, a row no longer fits into a page with its neighbours. */
  cohortRowSessionsMax: 30,
  /** Sessions whose rows the aggregator removes in one transaction, between batches, once they are no longer kept. */
  sessionsPrunedPerTransaction: 500,
  /** Experiments in one answer of the aggregator when a start asks for all: a few milliseconds' work on both sides. */
  experimentsPerPage: 5_000,
  /** Pages of 4 KiB that the analytics store's write-ahead log holds before they are copied into its file. */
  analyticsStoreCheckpointPages: 4_000,
  /** What the analytics store keeps of its file in memory. */
  analyticsStoreCacheKibibytes: 16 * 1024,
  /** A tag, an offer's id, a lender's name, a catalog version in the ledger. */
  ledgerNameCharactersMax: 256,
  /** Preliminary revenue of one click: 64-bit sums of it cannot overflow. */
  clickValueMicrosMax: 1_000_000_000_000,
  /** The aggregator's heap: a batch and its caches need a small part of it. */
  aggregatorHeapMegabytes: 256,
  /** Pause before a dead aggregator is started again: doubled each time, up to the maximum, until it has caught up. */
  aggregatorRestartDelayMinMs: 100,
  aggregatorRestartDelayMaxMs: 5_000,
  /** What closing waits for the aggregator's batch in hand. */
  aggregatorCloseTimeoutMs: 5_000,
} as const;

// The longest metadata in its worst encoding (4 bytes a code point, escaped) fits a record with room for the rest.
assert(bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 6 + 1_024 < bounds.logRecordBytesMax);
// The same metadata as a text within JSON, whose escapes are escaped again (7 bytes a code point), beside the longest user agent.
assert(
  bounds.metadataKeysMax * 2 * bounds.metadataCharactersMax * 7 + bounds.userAgentCharactersMax * 6 + 1_024 <
    bounds.idempotencyPayloadBytesMax,
);
// A sub_id in a query is 68 characters and a separator of three: `%2C`; the rest of the head needs a few hundred bytes.
assert(bounds.subIdListMax * (68 + 3) + 4_096 <= bounds.requestHeadBytesMax);
assert(bounds.offersShownDefault <= bounds.offersShownMax);
// 42 bytes of a sealed value, in base64url; and a kept ranking is a whole number of words.
assert(Math.ceil(((30 + bounds.catalogVersionCharacters) * 4) / 3) <= bounds.clickTokenCharactersMax);
assert(bounds.clickTokenCharactersMax % 4 === 0 && bounds.offersRankedMax % 2 === 0);
assert(bounds.offersShownMax <= bounds.offersRankedMax && bounds.offersRankedMax < 2 ** 8);
assert(bounds.catalogOffersMax < 2 ** 16);
// Whatever a catalog may name or promise, the ledger's readers take: they leave out a record with more.
assert(bounds.offerIdCharactersMax <= bounds.ledgerNameCharactersMax);
assert(bounds.lenderNameCodePointsMax * 2 <= bounds.ledgerNameCharactersMax);
assert(bounds.catalogVersionCharacters <= bounds.ledgerNameCharactersMax);
assert(bounds.payoutUsdMax * 1_000_000 <= bounds.clickValueMicrosMax);
// An amount and two rates in hundredths of a percent share one sort key, which must stay an exact integer.
assert(bounds.aprPercentMax * 100 < 2 ** 12 && bounds.offerAmountUsdMax * 2 ** 24 < 2 ** 53);
assert(bounds.catalogTermsMax < 31);
// An order is sorted by one exact integer each: a key (the largest is revenue), and a place among the offers.
assert(bounds.catalogOffersMax <= 2 ** 15 && bounds.payoutUsdMax * 1_000_000 < 2 ** 37);
assert(bounds.offerAmountUsdMax < 2 ** 37);
// A day is sealed only when no click on its sessions and no confirmation of one can count any more, with weeks to spare.
assert(bounds.clickAttributionMs + bounds.confirmationWindowMs < (bounds.retentionDaysMin - 30) * 24 * 60 * 60 * 1000);
assert(bounds.clickDurabilityTimeoutMs < bounds.requestDeadlineMs);
// Counts of a session's clicks are bytes, and those of two days are kept; a row's cells are chosen by up to 24 bits.
assert(bounds.clicksRecordedPerSessionMax <= 255 && bounds.clickAttributionMs <= 24 * 60 * 60 * 1000);
assert(Number.isInteger(Math.log2(bounds.sessionClickCells)) && bounds.sessionClickCells <= 2 ** 24);
// Whatever is held up, the operator's figures come in time to say so.
assert(bounds.scrapeReadTimeoutMs * 4 <= bounds.requestDeadlineMs);
// Left to itself, a drain outlasts every request it waits for.
assert(bounds.requestDeadlineMs + bounds.deadlineCheckIntervalMs < bounds.drainDeadlineDefaultMs);
assert(bounds.clickAttributionMs + bounds.sessionTtlMs <= bounds.replacedCatalogRetentionMs);
// Frame lengths stay below 2^24, which is what makes marked frames quick to find.
assert(bounds.logRecordBytesMax * 2 <= bounds.logReadChunkBytes && bounds.logRecordBytesMax < 2 ** 24);
assert(bounds.offersShownMax <= bounds.logRecordItemsMax && bounds.widgetEventsPerBatchMax <= bounds.logRecordItemsMax);
// A batch of the journal holds pairs, and no merge more values than a record has items: both are checked where they are made.
assert(bounds.logRecordItemsMax % 2 === 0);
assert(bounds.logRecordBytesMax < bounds.logSegmentBytesMax && bounds.logPendingBytesMax < bounds.logSegmentBytesMax);
// What one batch adds to a counter is an exact number.
assert(bounds.projectionBatchRecordsMax * bounds.clickValueMicrosMax <= Number.MAX_SAFE_INTEGER);
// Every row of a full batch may be at its longest: a click_id, a pair, a txid, and the names of the members.
assert(bounds.confirmationRowsPerRequestMax * 1_024 <= bounds.confirmationBodyBytesMax);
// The longest row of a file fits a body, whatever it takes to escape it.
assert(bounds.confirmationFileRowCharactersMax * 6 <= bounds.confirmationBodyBytesMax);
assert(bounds.txidCharactersMax <= bounds.ledgerNameCharactersMax);
// A payout may be as high as a catalog promises; the square of a session's revenue in cents is an exact number.
assert(
  bounds.payoutUsdMax <= bounds.confirmedRevenueUsdMax &&
    (bounds.confirmedRevenueUsdMax * 100) ** 2 <= Number.MAX_SAFE_INTEGER,
);
