import { type AuditActor, AuditLogUnavailableError, type RecordChange } from '../audit/audit-log.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import { recordFailure } from '../audit/run-recorded.ts';
import { bounds } from '../bounds.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import {
  auditLogUnavailable,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../domain/outcome.ts';
import type { TestClock } from '../domain/test-clock.ts';

/** Time of a test clock, as the operations API returns it. */
export interface TestClockTime {
  /** Current time of the test clock (ISO 8601). */
  readonly now: string;
  /** Number of days that the test clock is ahead of the clock of the machine. */
  readonly advanced_days: number;
}

interface ClockAdvanceOptions {
  readonly clock: TestClock;
  readonly audit: Pick<AuditTrail, 'recorderOf'>;
  /** Makes the number of days durable, before the clock shows the new time. */
  readonly storeDays: (advancedDays: number) => Promise<void>;
  /**
   * Work of the service at the beginning of a UTC day, in this order. Each function reads the time from the clock, and reports its own
   * failures. A crash can skip days, so each function must also do the work of earlier days that is still open.
   */
  readonly dayTasks: readonly (() => Promise<unknown>)[];
  /** Called after an advance, when the day tasks of its last day have ended. */
  readonly onAdvanced: () => void;
  /** Called when the number of days could not be stored. */
  readonly onStoreError: (error: unknown) => void;
}

/**
 * Advances a test clock, one advance at a time. First stores the new number of days, so that time never goes back: after a crash, the
 * clock shows either the time before the advance or the time after it. Then moves the clock day by day, and runs the day tasks of each day.
 */
export class ClockAdvance {
  readonly #options: ClockAdvanceOptions;
  #running: Promise<Outcome<TestClockTime>> | null = null;
  readonly #closing = Promise.withResolvers<void>();
  #closed = false;

  constructor(options: ClockAdvanceOptions) {
    this.#options = options;
  }

  readTime(): TestClockTime {
    const { clock } = this.#options;
    return { now: formatIsoTimestamp(clock.wallMs()), advanced_days: clock.advancedDays };
  }

  /**
   * Advances the clock by an integer number of days and returns the new time. Returns an error if the number is invalid, if another advance
   * is in progress, or if the number of days cannot be stored or recorded in the audit log.
   */
  async advance(days: unknown, actor: AuditActor): Promise<Outcome<TestClockTime>> {
    const { testClockDaysPerRequestMax: perRequestMax, testClockDaysMax: daysMax } = bounds;
    const daysLeft = daysMax - this.#options.clock.advancedDays;
    if (!isIntegerUpTo(days, Math.min(perRequestMax, daysLeft))) return invalidRequest('advance_days');
    if (this.#closed) return serviceStopping;
    if (this.#running !== null) {
      return serviceUnavailable(bounds.retryAfterSeconds, { text: 'another advance of the test clock is in progress' });
    }
    this.#running = this.#advanceByDays(days, this.#options.audit.recorderOf(actor));
    try {
      return await this.#running;
    } finally {
      this.#running = null;
    }
  }

  /**
   * Ends an advance in progress, and rejects later ones. The next start continues at the stored time. `close` does not wait for a day task
   * in progress, which ends when its component closes.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve();
    await this.#running;
  }

  async #advanceByDays(days: number, record: RecordChange): Promise<Outcome<TestClockTime>> {
    const { clock, storeDays, dayTasks, onAdvanced, onStoreError } = this.#options;
    const target = clock.advancedDays + days;
    let entry: number;
    try {
      entry = record('test_clock.advance', 'test clock', { advance_days: days, advanced_days: target });
    } catch (error) {
      if (error instanceof AuditLogUnavailableError) return auditLogUnavailable(bounds.retryAfterSeconds);
      throw error;
    }
    try {
      await storeDays(target);
    } catch (error) {
      recordFailure(record, entry, 'failed');
      onStoreError(error);
      const text = 'test clock not advanced; see the log line "time of the test clock could not be saved"';
      return serviceUnavailable(bounds.retryAfterSeconds, { text });
    }
    while (clock.advancedDays < target) {
      if (this.#closed) return serviceStopping;
      clock.advanceOneDay();
      for (const runTask of dayTasks) {
        await Promise.race([runTask(), this.#closing.promise]);
        if (this.#closed) return serviceStopping;
      }
    }
    onAdvanced();
    return successOutcome(this.readTime());
  }
}

const serviceStopping = serviceUnavailable(bounds.retryAfterSeconds, { text: 'the service is stopping' });

function isIntegerUpTo(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
}
