import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ThreadAnalytics } from './thread-analytics.ts';

export interface RetentionOptions {
  /** How many days back from today sessions are kept, at least. */
  readonly days: number;
  readonly clock: Clock;
  readonly analytics: Pick<ThreadAnalytics, 'seal'>;
  /** Removes what the ledger holds before a position, as far as that is whole segments; resolves with how many these were. */
  readonly dropLedger: (beforePosition: number) => Promise<number>;
  /** Something was given up: sessions created before a day (day number), or segments of the ledger, or both. */
  readonly onGivenUp: (given: { readonly keptFromDay: number; readonly segments: number }) => void;
  /** It did not work, and will be tried again. */
  readonly onFault: (fault: unknown) => void;
  /** It works again after a fault. */
  readonly onRecovered: () => void;
}

/**
 * Gives up what is older than the retention: first the daily counters are sealed, then sessions vanish from the analytics,
 * then segments of the ledger that tell of no others are removed. It looks at its start and every hour; each step may be
 * interrupted and is then done the next time.
 */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #closing = Promise.withResolvers<null>();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void>;
  #closed = false;
  #faulty = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#running = this.#tend();
  }

  /** Waits for segments that are being removed, not for a sealing: whoever does that finishes it or does not. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve(null);
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #tend(): Promise<void> {
    let pauseMs: number = bounds.retentionTendMs;
    try {
      await this.#giveUp();
      if (this.#faulty && !this.#closed) this.#options.onRecovered();
      this.#faulty = false;
    } catch (fault) {
      if (!this.#closed) this.#options.onFault(fault);
      this.#faulty = true;
      pauseMs = bounds.retentionRetryMs;
    }
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#tend();
    }, pauseMs);
    // Nothing depends on when it happens.
    this.#timer.unref();
  }

  async #giveUp(): Promise<void> {
    const { days, clock, analytics, dropLedger, onGivenUp } = this.#options;
    const wallMs = clock.wallMs();
    const outcome = await Promise.race([analytics.seal({ today: dayOf(wallMs), days, wallMs }), this.#closing.promise]);
    if (outcome === null) return;
    if (!outcome.sealed) throw new Error(outcome.reason);
    const { keptFromDay, isNew, ledgerFrom } = outcome;
    const segments = await dropLedger(ledgerFrom);
    if (isNew || segments > 0) onGivenUp({ keptFromDay, segments });
  }
}
