import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ThreadAnalytics } from './thread-analytics.ts';

export interface RetentionOptions {
  /** How many days back from today sessions are kept, at least. */
  readonly days: number;
  readonly clock: Clock;
  readonly analytics: Pick<ThreadAnalytics, 'keptFromDay' | 'seal'>;
  /** Removes what the ledger holds before a position, as far as that is whole segments; resolves with how many these were. */
  readonly dropLedger: (beforePosition: number) => Promise<number>;
  /** Something was given up: sessions created before a day (day number), or segments of the ledger, or both. */
  readonly onGivenUp: (given: { readonly keptFromDay: number; readonly segments: number }) => void;
  /** It did not work, and will be tried again. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * Gives up what is older than the retention: first the daily counters are sealed, then sessions vanish from the analytics,
 * then segments of the ledger that tell of no others are removed. It looks at its start and every hour; each step may be
 * interrupted and is then done the next time.
 */
export class Retention {
  readonly #options: RetentionOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void>;
  #closed = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#running = this.#tend();
  }

  /** Waits for what it has in hand. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #tend(): Promise<void> {
    const fault = await this.#giveUp().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (this.#closed) return;
    if (fault !== null) this.#options.onFault(fault.error);
    const pauseMs = fault === null ? bounds.retentionTendMs : bounds.retentionRetryMs;
    this.#timer = setTimeout(() => {
      this.#running = this.#tend();
    }, pauseMs);
    // Nothing depends on when it happens.
    this.#timer.unref();
  }

  async #giveUp(): Promise<void> {
    const { days, clock, analytics, dropLedger, onGivenUp } = this.#options;
    const before = analytics.keptFromDay;
    const wallMs = clock.wallMs();
    const outcome = await analytics.seal(dayOf(wallMs) - days, wallMs);
    if (!outcome.sealed) throw new Error(outcome.reason);
    const { keptFromDay, ledgerFrom } = outcome;
    const segments = await dropLedger(ledgerFrom);
    if (keptFromDay > before || segments > 0) onGivenUp({ keptFromDay, segments });
  }
}
