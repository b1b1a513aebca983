import type { MessagePort } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type {
  AggregatorQuery,
  AggregatorResults,
  AggregatorWorkerData,
  MessageFromAggregator,
  MessageToAggregator,
} from './aggregator-protocol.ts';
import { unpackQuery } from './aggregator-protocol.ts';
import { LedgerFollower } from './ledger-follower.ts';
import { SharedProgress } from './shared-progress.ts';

/**
 * The aggregator in its thread: folds the ledger and answers questions between batches.
 *
 *     asleep ----wake----> lingering --full batch, question, or time is up--> folding one batch
 *        ^                     ^                                                   |
 *        |                     +------------- the ledger went on -----------------+
 *        +------------------------------------ caught up -------------------------+
 *
 * Lingering lets the groups of many commits share one transaction, and keeps a busy front end from sending a message for
 * each: only one that finds the aggregator asleep does. A question that has to wait for records ends it at once. While there
 * are rows to prune it does not linger, and removes a few of them after each batch.
 */
export class Aggregator {
  readonly #port: MessagePort;
  readonly #progress: SharedProgress;
  readonly #follower: LedgerFollower;
  /** Questions ahead of the figures; the asking side bounds how many there are. */
  #pendingQueries: { readonly id: number; readonly position: number; readonly question: AggregatorQuery }[] = [];
  #batchTimer: NodeJS.Timeout | null = null;
  #batchImmediate: NodeJS.Immediate | null = null;
  /** Until a store that is derived anew has caught up. */
  #rebuilding = false;

  constructor(setup: AggregatorWorkerData, port: MessagePort) {
    this.#port = port;
    this.#progress = new SharedProgress(setup.progress);
    this.#follower = new LedgerFollower(setup.files, (reason) => {
      this.#rebuilding = true;
      this.#post({ kind: 'rebuild', reason });
    });
    this.#progress.projectedPosition = this.#follower.projectedPosition;
    this.#progress.claimWakeUp();
    port.on('message', (message: MessageToAggregator) => this.#onMessage(message));
    this.#post({ kind: 'ready' });
    this.#reportRebuilt();
    this.#scheduleBatch();
  }

  #onMessage(message: MessageToAggregator): void {
    switch (message.kind) {
      case 'wake':
        this.#scheduleBatch();
        break;
      case 'ask':
        if (message.position <= this.#follower.projectedPosition) {
          this.#sendResult(message.id, message.question);
        } else {
          this.#pendingQueries.push(message);
          this.#scheduleBatch();
        }
        break;
      case 'close':
        this.#close();
        break;
    }
  }

  #scheduleBatch(): void {
    if (this.#batchImmediate !== null) return;
    const behind = this.#progress.durablePosition - this.#follower.projectedPosition;
    const busy = behind >= bounds.projectionBatchRecordsMax || (behind > 0 && this.#pendingQueries.length > 0);
    if (busy || this.#follower.hasRowsToPrune) {
      if (this.#batchTimer !== null) clearTimeout(this.#batchTimer);
      this.#batchTimer = null;
      // Not in the same turn: messages that came in during the last batch go first.
      this.#batchImmediate = setImmediate(() => this.#runBatch());
    } else if (this.#batchTimer === null && (behind > 0 || !this.#progress.trySleep())) {
      this.#batchTimer = setTimeout(() => this.#runBatch(), bounds.projectionLingerMs);
    }
  }

  #runBatch(): void {
    this.#batchImmediate = null;
    this.#batchTimer = null;
    const durable = this.#progress.durablePosition;
    if (durable > this.#follower.projectedPosition) this.#follower.applyBatch(durable);
    this.#progress.projectedPosition = this.#follower.projectedPosition;
    this.#reportRebuilt();
    const waiting = this.#pendingQueries;
    this.#pendingQueries = [];
    for (const question of waiting) {
      if (question.position <= this.#follower.projectedPosition) this.#sendResult(question.id, question.question);
      else this.#pendingQueries.push(question);
    }
    if (this.#follower.hasRowsToPrune) this.#follower.pruneRows();
    this.#scheduleBatch();
  }

  #reportRebuilt(): void {
    if (!this.#rebuilding || this.#follower.projectedPosition < this.#progress.durablePosition) return;
    this.#rebuilding = false;
    this.#post({ kind: 'rebuilt' });
  }

  #sendResult(id: number, question: AggregatorQuery): void {
    this.#post({ kind: 'answer', id, answer: this.#execute(question) });
  }

  #execute(question: AggregatorQuery): AggregatorResults[AggregatorQuery['kind']] {
    switch (question.kind) {
      case 'summary':
        return this.#follower.getSummary(unpackQuery(question.query));
      case 'payouts':
        return this.#follower.findPayoutStates(question.asked);
      case 'daily':
        return this.#follower.listDays(unpackQuery(question.query));
      case 'rows':
        return this.#follower.listRows(unpackQuery(question.query));
      case 'totals':
        return this.#follower.getTotals();
      case 'experiments':
        return this.#follower.listExperiments(question.after);
      case 'seal': {
        const outcome = this.#follower.applyRetention(question.age);
        // There may be something to prune.
        this.#scheduleBatch();
        return outcome;
      }
    }
  }

  /** Nothing is running now: a batch is one synchronous call. Without timers and port the thread ends by itself. */
  #close(): void {
    if (this.#batchTimer !== null) clearTimeout(this.#batchTimer);
    if (this.#batchImmediate !== null) clearImmediate(this.#batchImmediate);
    this.#follower.close();
    this.#port.close();
  }

  #post(message: MessageFromAggregator): void {
    this.#port.postMessage(message);
  }
}
