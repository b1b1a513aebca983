import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ThreadAnalytics } from './thread-analytics.ts';

interface RetentionTaskOptions {
  /** How many days back from today sessions are kept, at least. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly analytics: Pick<ThreadAnalytics, 'applyRetention'>;
  /** Removes what the ledger holds before a position, as far as that is whole segments; resolves with how many these were. */
  readonly deleteLedgerBefore: (beforePosition: number) => Promise<number>;
  /** Something was given up: sessions created before a day (day number), or segments of the ledger, or both. */
  readonly onDeleted: (given: { readonly keptFromDay: number; readonly segments: number }) => void;
  /** It did not work, and will be tried again. */
  readonly onError: (fault: unknown) => void;
  /** It works again after a fault. */
  readonly onRecovered: () => void;
}

/**
 * Gives up what is older than the retention: first the daily counters are sealed, then sessions vanish from the analytics,
 * then segments of the ledger that tell of no others are removed. It looks at its start and every hour; each step may be
 * interrupted and is then done the next time.
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

  /** Waits for segments that are being removed, not for a sealing: whoever does that finishes it or does not. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve(null);
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    let pauseMs: number = bounds.retentionCheckIntervalMs;
    try {
      await this.#deleteExpired();
      if (this.#isFailing && !this.#closed) this.#options.onRecovered();
      this.#isFailing = false;
    } catch (fault) {
      if (!this.#closed) this.#options.onError(fault);
      this.#isFailing = true;
      pauseMs = bounds.retentionRetryDelayMs;
    }
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, pauseMs);
    // Nothing depends on when it happens.
    this.#timer.unref();
  }

  async #deleteExpired(): Promise<void> {
    const { retentionDays, clock, analytics, deleteLedgerBefore, onDeleted } = this.#options;
    const wallMs = clock.wallMs();
    const outcome = await Promise.race([
      analytics.applyRetention({ today: dayOf(wallMs), retentionDays, wallMs }),
      this.#closing.promise,
    ]);
    if (outcome === null) return;
    if (!outcome.sealed) throw new Error(outcome.reason);
    const { keptFromDay, isNew, ledgerFrom } = outcome;
    const segments = await deleteLedgerBefore(ledgerFrom);
    if (isNew || segments > 0) onDeleted({ keptFromDay, segments });
  }
}
