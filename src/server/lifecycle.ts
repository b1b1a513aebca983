import type { DrainSettings } from '../config/service-settings.ts';
import type { Clock } from '../domain/clock.ts';

/** Cleanup callbacks of a service's components. The component that was opened last is closed first. */
export class CleanupStack {
  readonly #callbacks: (() => unknown)[] = [];
  #closePromise: Promise<void> | null = null;

  addCleanupCallback(callback: () => unknown): void {
    this.#callbacks.push(callback);
  }

  /** Runs every callback, even if one of them fails, and then throws the first error. Idempotent. */
  close(): Promise<void> {
    this.#closePromise ??= this.#runCleanupCallbacks();
    return this.#closePromise;
  }

  async #runCleanupCallbacks(): Promise<void> {
    const errors: unknown[] = [];
    for (const callback of this.#callbacks.reverse()) {
      try {
        await callback();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

interface LifecycleOptions extends Readonly<Record<'ledger' | 'journal' | 'analytics', { readonly healthy: boolean }>> {
  readonly clock: Clock;
  readonly drain: DrainSettings;
  readonly cleanup: CleanupStack;
}

/**
 * State of a service: `starting`, then `serving` after `markServing`, then `stopping` after `stop`. If the service fails to start, its
 * cleanup callbacks run in the state `starting`.
 */
export class ServiceLifecycle {
  readonly #options: LifecycleOptions;
  #state: 'starting' | 'serving' | 'stopping' = 'starting';
  #drain: DrainSettings;
  #drainStartedMs: number;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#drain = options.drain;
    this.#drainStartedMs = options.clock.monotonicMs();
  }

  get drainDelayMs(): number {
    return this.#drain.delayMs;
  }

  /** Remaining time for pending requests to complete, in milliseconds. */
  get remainingDrainMs(): number {
    const { delayMs, deadlineMs } = this.#drain;
    const elapsedMs = Math.max(0, this.#options.clock.monotonicMs() - this.#drainStartedMs - delayMs);
    return Math.max(0, deadlineMs - elapsedMs);
  }

  get isStopping(): boolean {
    return this.#state === 'stopping';
  }

  markServing(): void {
    this.#state = 'serving';
  }

  /** Returns the reasons why the service does not accept requests; empty when the service is ready. */
  notReadyReasons(): readonly string[] {
    if (this.#state !== 'serving') return [`the service is ${this.#state}`];
    const { ledger, journal, analytics } = this.#options;
    const reasons: string[] = [];
    if (!ledger.healthy) reasons.push('the ledger cannot be written');
    if (!journal.healthy) reasons.push('the journal cannot be written');
    if (!analytics.healthy) reasons.push('the aggregator is not running');
    return reasons;
  }

  /** Starts the graceful stop and runs the cleanup callbacks. Idempotent. */
  stop(): Promise<void> {
    if (!this.isStopping) this.#drainStartedMs = this.#options.clock.monotonicMs();
    this.#state = 'stopping';
    return this.#options.cleanup.close();
  }

  /** Stops the service without waiting for pending requests. Idempotent. */
  stopImmediately(): Promise<void> {
    this.#drain = { delayMs: 0, deadlineMs: 0 };
    return this.stop();
  }
}
