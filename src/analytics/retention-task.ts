import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ThreadAnalytics } from './thread-analytics.ts';

interface RetentionTaskOptions {
  /** Number of days before today whose sessions are retained. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly analytics: Pick<ThreadAnalytics, 'applyRetention'>;
  /** Deletes all ledger segments whose records all precede `beforePosition`. Resolves with the number of deleted segments. */
  readonly deleteLedgerBefore: (beforePosition: number) => Promise<number>;
  /** Called after a retention run that deleted data: ledger segments, sessions created before the day `retainedFromDay`, or both. */
  readonly onDeleted: (deleted: { readonly retainedFromDay: number; readonly segments: number }) => void;
  /** Called when a retention run fails; the task starts another retention run later. */
  readonly onError: (error: unknown) => void;
  /** Called when a retention run succeeds and the previous retention run failed. */
  readonly onRecovered: () => void;
}

/**
 * Deletes data older than the retention period, when the service starts and then every hour. Each retention run archives the daily
 * counters, removes the sessions from analytics, and deletes the ledger segments that contain only removed sessions. If a run is
 * interrupted between steps, the next run completes the remaining steps.
 */
export class RetentionTask {
  readonly #options: RetentionTaskOptions;
  readonly #closing = Promise.withResolvers<null>();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void>;
  #closed = false;
  #isFailing = false;

  constructor(options: RetentionTaskOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Starts a retention run as soon as the current run has ended, and waits for it. Reports a failure like every run. Never rejects. */
  runNow(): Promise<void> {
    this.#running = this.#running.then(() => {
      if (this.#timer !== null) clearTimeout(this.#timer);
      return this.#closed ? undefined : this.#run();
    });
    return this.#running;
  }

  /**
   * Stops the task. If ledger segments are being deleted, waits until the deletion ends. `close` does not wait for the aggregator thread.
   * Repeated calls have no effect.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve(null);
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    let delayMs: number = bounds.retentionCheckIntervalMs;
    try {
      await this.#deleteExpiredData();
      if (this.#isFailing && !this.#closed) this.#options.onRecovered();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#closed) this.#options.onError(error);
      this.#isFailing = true;
      delayMs = bounds.retentionRetryDelayMs;
    }
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, delayMs);
  }

  async #deleteExpiredData(): Promise<void> {
    const { retentionDays, clock, analytics, deleteLedgerBefore, onDeleted } = this.#options;
    const wallMs = clock.wallMs();
    const request = { today: daysSinceEpoch(wallMs), retentionDays, wallMs };
    const apply = () => Promise.race([analytics.applyRetention(request), this.#closing.promise]);
    let outcome = await apply();
    while (outcome?.archived === false && outcome.reason === null) {
      // Other queries wait less if the aggregator does not archive all the time.
      await Promise.race([pause(bounds.retentionPauseMs), this.#closing.promise]);
      outcome = await apply();
    }
    if (outcome === null) return;
    if (!outcome.archived) throw new Error(outcome.reason!);
    const { retainedFromDay, isNew, ledgerStartPosition } = outcome;
    const segments = await deleteLedgerBefore(ledgerStartPosition);
    if (isNew || segments > 0) onDeleted({ retainedFromDay, segments });
  }
}
