import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ThreadAnalytics } from './thread-analytics.ts';

interface RetentionTaskOptions {
  /** Minimum age, in days before today, of deleted sessions. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly analytics: Pick<ThreadAnalytics, 'applyRetention'>;
  /** Deletes ledger segments that end before a position; resolves with their number. */
  readonly deleteLedgerBefore: (beforePosition: number) => Promise<number>;
  /** Called when sessions created before `retainedFromDay` (day number) or ledger segments were deleted. */
  readonly onDeleted: (deleted: { readonly retainedFromDay: number; readonly segments: number }) => void;
  /** Called when a run failed; the task retries. */
  readonly onError: (error: unknown) => void;
  /** Called after the first success that follows a failure. */
  readonly onRecovered: () => void;
}

/**
 * Deletes data older than the retention, at start and every hour: archives the daily counters, removes the sessions from
 * analytics, then deletes the ledger segments that contain only deleted sessions. A run may be interrupted after each step;
 * the next run completes it.
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

  /** Waits for ledger segments that are being deleted, not for the aggregator thread. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve(null);
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    let delayMs: number = bounds.retentionCheckIntervalMs;
    try {
      await this.#deleteExpired();
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

  async #deleteExpired(): Promise<void> {
    const { retentionDays, clock, analytics, deleteLedgerBefore, onDeleted } = this.#options;
    const wallMs = clock.wallMs();
    const outcome = await Promise.race([
      analytics.applyRetention({ today: dayOf(wallMs), retentionDays, wallMs }),
      this.#closing.promise,
    ]);
    if (outcome === null) return;
    if (!outcome.archived) throw new Error(outcome.reason);
    const { retainedFromDay, isNew, ledgerFromPosition } = outcome;
    const segments = await deleteLedgerBefore(ledgerFromPosition);
    if (isNew || segments > 0) onDeleted({ retainedFromDay, segments });
  }
}
