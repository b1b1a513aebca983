import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { AuditAction } from './audit-actions.ts';
import type { AuditActor, AuditChange, AuditDetails, AuditLog, RecordChange } from './audit-log.ts';

interface AuditTrailOptions {
  readonly log: Pick<AuditLog, 'append'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Called for the first failed write, and again after a successful one. */
  readonly onWriteError: (error: unknown) => void;
  readonly onRecovered: () => void;
  /** Called with the number of entries that are lost, because too many wait or the service stops while the log cannot be written. */
  readonly onLost: (entries: number) => void;
}

/** Records changes in an audit log in the name of an actor. */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  /** Changes that took effect without an entry, oldest first. */
  #waiting: AuditChange[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** Whether the last write succeeded. */
  get healthy(): boolean {
    return !this.#isFailing;
  }

  /** Returns the function that records changes of an actor before they take effect. */
  recorderOf(actor: AuditActor): RecordChange {
    return (action, subject, details = {}) => this.#append([this.#describe(actor, action, subject, details)]);
  }

  /**
   * Records changes that must take effect even if the audit log cannot be written. The entries then wait, and are written later with the
   * time of this call. Returns the number of the last entry, or null if the entries wait. Never throws.
   */
  recordOrWait(
    actor: AuditActor,
    ...changes: readonly (readonly [action: AuditAction, subject: string, details: AuditDetails])[]
  ): number | null {
    if (changes.length === 0) return null;
    const described = changes.map((change) => this.#describe(actor, ...change));
    try {
      return this.#append(described);
    } catch {
      this.#waiting.push(...described);
      this.#dropAbove(bounds.auditEntriesWaitingMax);
      this.#timer ??= setInterval(() => this.#retry(), bounds.auditRetryIntervalMs);
      return null;
    }
  }

  /** Writes the waiting entries, if possible. */
  close(): void {
    this.#retry();
    clearInterval(this.#timer);
    this.#dropAbove(0);
  }

  #retry(): void {
    try {
      if (this.#waiting.length > 0) this.#append([]);
    } catch {
      // `onWriteError` has reported the error.
    }
  }

  #describe(actor: AuditActor, action: AuditAction, subject: string, details: AuditDetails): AuditChange {
    return { timeMs: this.#options.clock.wallMs(), actor, action, subject, details };
  }

  /** Appends the waiting entries and then `changes`. Returns the number of the last entry. */
  #append(changes: readonly AuditChange[]): number {
    const { log, onWriteError, onRecovered } = this.#options;
    try {
      const entries = log.append([...this.#waiting, ...changes]);
      this.#waiting = [];
      clearInterval(this.#timer);
      this.#timer = undefined;
      if (this.#isFailing) onRecovered();
      this.#isFailing = false;
      return entries.at(-1)!.number;
    } catch (error) {
      if (!this.#isFailing) onWriteError(error);
      this.#isFailing = true;
      throw error;
    }
  }

  /** Drops the oldest waiting entries above `entriesMax`. */
  #dropAbove(entriesMax: number): void {
    const lost = this.#waiting.splice(0, this.#waiting.length - entriesMax);
    if (lost.length > 0) this.#options.onLost(lost.length);
  }
}
