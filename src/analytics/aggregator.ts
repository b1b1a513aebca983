import type { MessagePort } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { AggregatorWorkerData, MessageFromAggregator, MessageToAggregator } from './aggregator-protocol.ts';
import { LedgerFollower } from './ledger-follower.ts';
import { AggregatorProgress } from './shared-progress.ts';

type PendingQuery = Extract<MessageToAggregator, { readonly kind: 'query' }>;

/**
 * Runs in the aggregator thread: applies the ledger in batches and executes queries between batches.
 *
 *     sleeping ----wake----> waiting --full batch, pending query or timer--> applying one batch
 *        ^                     ^                                                  |
 *        |                     +------------- the ledger has grown --------------+
 *        +------------------------------- all records applied -------------------+
 *
 * In the state `waiting`, the aggregator collects many groups of records for one transaction. The main thread sends `wake` messages only in
 * the state `sleeping`. A pending query makes the aggregator apply the next batch immediately. After each batch, the aggregator deletes
 * some rows of sessions beyond the retention period, counts some earlier sessions of new experiments, and applies a batch of records to the
 * replacement of an outdated store. Until this work is done, the aggregator neither waits nor sleeps.
 */
export class Aggregator {
  readonly #port: MessagePort;
  readonly #progress: AggregatorProgress;
  readonly #follower: LedgerFollower;
  /** Queries that wait until the ledger is applied up to `position`; at most `bounds.analyticsQueriesInFlightMax` queries. */
  #pendingQueries: PendingQuery[] = [];
  #batchTimer: NodeJS.Timeout | null = null;
  #batchImmediate: NodeJS.Immediate | null = null;
  #isRebuilding = false;

  constructor({ files, progress }: AggregatorWorkerData, port: MessagePort) {
    this.#port = port;
    this.#progress = new AggregatorProgress(progress);
    this.#follower = new LedgerFollower(
      files,
      (reason) => {
        this.#isRebuilding = true;
        this.#postToMainThread({ kind: 'rebuild', reason });
      },
      () => this.#postToMainThread({ kind: 'outdated' }),
    );
    this.#progress.appliedPosition = this.#follower.appliedPosition;
    this.#progress.markAggregatorAwake();
    port.on('message', (message: MessageToAggregator) => this.#onMessage(message));
    this.#postToMainThread({ kind: 'ready' });
    this.#reportRebuiltStore();
    this.#scheduleNextBatch();
  }

  #onMessage(message: MessageToAggregator): void {
    switch (message.kind) {
      case 'wake':
        this.#scheduleNextBatch();
        break;
      case 'query':
        if (message.position <= this.#follower.appliedPosition) this.#sendQueryResult(message);
        else this.#pendingQueries.push(message);
        // The query may have started the retention, and the next batch also deletes rows of sessions that are no longer retained.
        this.#scheduleNextBatch();
        break;
      case 'close':
        this.#close();
        break;
    }
  }

  #scheduleNextBatch(): void {
    if (this.#batchImmediate !== null) return;
    const lagRecords = this.#progress.durablePosition - this.#follower.appliedPosition;
    const isUrgent =
      lagRecords >= bounds.projectionBatchRecordsMax || (lagRecords > 0 && this.#pendingQueries.length > 0);
    const { hasRowsToPrune, hasSessionsToFill, isReplacing } = this.#follower;
    if (isUrgent || hasRowsToPrune || hasSessionsToFill || isReplacing) {
      if (this.#batchTimer !== null) clearTimeout(this.#batchTimer);
      this.#batchTimer = null;
      // Between batches, `setImmediate` lets the aggregator handle messages of the main thread.
      this.#batchImmediate = setImmediate(() => this.#applyLedgerBatch());
    } else if (this.#batchTimer === null && (lagRecords > 0 || !this.#progress.tryMarkAggregatorAsleep())) {
      this.#batchTimer = setTimeout(() => this.#applyLedgerBatch(), bounds.projectionLingerMs);
    }
  }

  #applyLedgerBatch(): void {
    this.#batchImmediate = null;
    this.#batchTimer = null;
    const { durablePosition } = this.#progress;
    if (durablePosition > this.#follower.appliedPosition) this.#follower.applyBatch(durablePosition);
    this.#progress.appliedPosition = this.#follower.appliedPosition;
    this.#reportRebuiltStore();
    const queries = this.#pendingQueries;
    this.#pendingQueries = [];
    for (const query of queries) {
      if (query.position <= this.#follower.appliedPosition) this.#sendQueryResult(query);
      else this.#pendingQueries.push(query);
    }
    if (this.#follower.hasRowsToPrune) this.#follower.pruneRows();
    if (this.#follower.hasSessionsToFill) this.#follower.fillExperiments();
    if (this.#follower.isReplacing) {
      this.#follower.buildReplacement();
      this.#reportRebuiltStore();
    }
    this.#scheduleNextBatch();
  }

  #reportRebuiltStore(): void {
    const { isReplacing, appliedPosition } = this.#follower;
    if (!this.#isRebuilding || isReplacing || appliedPosition < this.#progress.durablePosition) return;
    this.#isRebuilding = false;
    this.#postToMainThread({ kind: 'rebuilt' });
  }

  #sendQueryResult({ id, query }: PendingQuery): void {
    this.#postToMainThread({ kind: 'result', id, result: this.#follower.execute(query) });
  }

  /** Closes the store and the message port, and clears the timers. No batch can be running, because batches are synchronous. */
  #close(): void {
    if (this.#batchTimer !== null) clearTimeout(this.#batchTimer);
    if (this.#batchImmediate !== null) clearImmediate(this.#batchImmediate);
    this.#follower.close();
    this.#port.close();
  }

  #postToMainThread(message: MessageFromAggregator): void {
    this.#port.postMessage(message);
  }
}
