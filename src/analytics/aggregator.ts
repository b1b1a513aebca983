import type { MessagePort } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { AggregatorSetup, Answers, FromAggregator, Question, ToAggregator } from './aggregator-protocol.ts';
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
  #waiting: { readonly id: number; readonly position: number; readonly question: Question }[] = [];
  #lingering: NodeJS.Timeout | null = null;
  #folding: NodeJS.Immediate | null = null;
  /** Until a store that is derived anew has caught up. */
  #rebuilding = false;

  constructor(setup: AggregatorSetup, port: MessagePort) {
    this.#port = port;
    this.#progress = new SharedProgress(setup.progress);
    this.#follower = new LedgerFollower(setup.files, (reason) => {
      this.#rebuilding = true;
      this.#tell({ kind: 'rebuild', reason });
    });
    this.#progress.foldedPosition = this.#follower.foldedPosition;
    this.#progress.claimWaking();
    port.on('message', (message: ToAggregator) => this.#receive(message));
    this.#tell({ kind: 'ready' });
    this.#tellRebuilt();
    this.#schedule();
  }

  #receive(message: ToAggregator): void {
    switch (message.kind) {
      case 'wake':
        this.#schedule();
        break;
      case 'ask':
        if (message.position <= this.#follower.foldedPosition) {
          this.#answer(message.id, message.question);
        } else {
          this.#waiting.push(message);
          this.#schedule();
        }
        break;
      case 'close':
        this.#close();
        break;
    }
  }

  #schedule(): void {
    if (this.#folding !== null) return;
    const behind = this.#progress.durablePosition - this.#follower.foldedPosition;
    const busy = behind >= bounds.foldRecordsMax || (behind > 0 && this.#waiting.length > 0);
    if (busy || this.#follower.mustPrune) {
      if (this.#lingering !== null) clearTimeout(this.#lingering);
      this.#lingering = null;
      // Not in the same turn: messages that came in during the last batch go first.
      this.#folding = setImmediate(() => this.#fold());
    } else if (this.#lingering === null && (behind > 0 || !this.#progress.fallAsleep())) {
      this.#lingering = setTimeout(() => this.#fold(), bounds.foldLingerMs);
    }
  }

  #fold(): void {
    this.#folding = null;
    this.#lingering = null;
    const durable = this.#progress.durablePosition;
    if (durable > this.#follower.foldedPosition) this.#follower.fold(durable);
    this.#progress.foldedPosition = this.#follower.foldedPosition;
    this.#tellRebuilt();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const question of waiting) {
      if (question.position <= this.#follower.foldedPosition) this.#answer(question.id, question.question);
      else this.#waiting.push(question);
    }
    if (this.#follower.mustPrune) this.#follower.prune();
    this.#schedule();
  }

  #tellRebuilt(): void {
    if (!this.#rebuilding || this.#follower.foldedPosition < this.#progress.durablePosition) return;
    this.#rebuilding = false;
    this.#tell({ kind: 'rebuilt' });
  }

  #answer(id: number, question: Question): void {
    this.#tell({ kind: 'answer', id, answer: this.#figures(question) });
  }

  #figures(question: Question): Answers[Question['kind']] {
    switch (question.kind) {
      case 'summary':
        return this.#follower.summary(unpackQuery(question.query));
      case 'payouts':
        return this.#follower.knownPayouts(question.asked);
      case 'daily':
        return this.#follower.daily(unpackQuery(question.query));
      case 'rows':
        return this.#follower.rows(unpackQuery(question.query));
      case 'totals':
        return this.#follower.totals();
      case 'experiments':
        return this.#follower.experiments(question.after);
      case 'seal': {
        const outcome = this.#follower.seal(question.age);
        // There may be something to prune.
        this.#schedule();
        return outcome;
      }
    }
  }

  /** Nothing is running now: a batch is one synchronous call. Without timers and port the thread ends by itself. */
  #close(): void {
    if (this.#lingering !== null) clearTimeout(this.#lingering);
    if (this.#folding !== null) clearImmediate(this.#folding);
    this.#follower.close();
    this.#port.close();
  }

  #tell(message: FromAggregator): void {
    this.#port.postMessage(message);
  }
}
