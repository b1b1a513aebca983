import { type Random, wholeNumber } from '../../bench/population/random.ts';
import type {
  ConfirmationPayout,
  ConfirmationResult,
  ConfirmationStatus,
  ConfirmationsResponse,
} from '../../src/index.ts';
import type { SessionRecord } from './session-record.ts';

/** Maximum revenue of a session, and of a confirmation (docs/contract.md#confirmation-rules). */
export const sessionMicrosMax = 100_000 * 1_000_000;

/** A click_id from a redirect, and the value of its click. */
export interface IssuedClick {
  readonly offerId: string;
  readonly clickId: string;
  readonly micros: number;
}

/** One row of a confirmation request. */
export interface ConfirmationRow {
  readonly offerId: string;
  readonly txid: string;
  readonly status: ConfirmationStatus;
  readonly amountMicros: number;
  readonly occurredMs: number;
  /** Click whose click_id is sent; null to send session and offer instead. */
  readonly issued: IssuedClick | null;
  /** Whether session and offer are sent in addition to a click_id. */
  readonly isDoublyNamed: boolean;
  /** Invalid members that are sent, and the expected reason of the rejection. */
  readonly spoilt: { readonly members: object; readonly reason: Reason } | null;
}

type Reason = NonNullable<ConfirmationResult['reason']>;
/** Expected outcome of a row. */
export type RowVerdict = 'accepted' | 'repeated' | Reason;

/** Payouts and reversals of one session, according to docs/contract.md#confirmation-rules. */
export class Payouts {
  readonly #booked = new Map<string, ConfirmationRow>();

  /** Accepted rows in the order of booking. */
  get rows(): ConfirmationRow[] {
    return [...this.#booked.values()];
  }

  /** Returns the verdict on a row whose transaction was booked before; otherwise null. */
  verdictOnKnown(row: ConfirmationRow): RowVerdict | null {
    const first = this.#find(row, row.status);
    if (first === undefined) return null;
    const isSame = first.amountMicros === row.amountMicros && first.occurredMs === row.occurredMs;
    return isSame ? 'repeated' : 'conflict';
  }

  /** Returns the error of a reversal, or null. */
  reversalError(row: ConfirmationRow): RowVerdict | null {
    const funded = this.#find(row, 'funded');
    if (funded === undefined) return 'txid_unknown';
    return row.amountMicros > funded.amountMicros ? 'exceeds_funded' : null;
  }

  /** Whether a payout would exceed the limit of the session. */
  isBeyondLimit({ amountMicros }: ConfirmationRow): boolean {
    return this.rows.reduce((sum, row) => sum + revenueChangeMicros(row), amountMicros) > sessionMicrosMax;
  }

  /** Returns the payout that a row names, as in the answer, or undefined. */
  payoutOf(row: ConfirmationRow): ConfirmationPayout | undefined {
    const funded = this.#find(row, 'funded');
    if (funded === undefined) return undefined;
    const reversed = this.#find(row, 'reversed');
    const micros = funded.amountMicros - (reversed?.amountMicros ?? 0);
    const state = reversed === undefined ? 'funded' : micros === 0 ? 'reversed' : 'partly_reversed';
    return { state, amount: micros / 1_000_000 };
  }

  isReversed(funded: ConfirmationRow): boolean {
    return this.#find(funded, 'reversed') !== undefined;
  }

  book(row: ConfirmationRow): void {
    this.#booked.set(keyOf(row, row.status), row);
  }

  /** Records that a crash lost a row. */
  forget(row: ConfirmationRow): void {
    this.#booked.delete(keyOf(row, row.status));
  }

  #find(row: ConfirmationRow, status: ConfirmationStatus): ConfirmationRow | undefined {
    return this.#booked.get(keyOf(row, status));
  }
}

export function revenueChangeMicros({ status, amountMicros }: ConfirmationRow): number {
  return status === 'funded' ? amountMicros : -amountMicros;
}

function keyOf({ offerId, txid }: ConfirmationRow, status: ConfirmationStatus): string {
  return `${offerId} ${txid} ${status}`;
}

interface BatchRow {
  readonly session: SessionRecord;
  readonly row: ConfirmationRow;
  readonly verdict: RowVerdict;
}

/**
 * Rows of one request, which are added to the records of their sessions, and their expected outcomes. Rows are added in the order in which
 * the service applies them: payouts before reversals. They can be sent in another order.
 */
export class ConfirmationBatch {
  #rows: BatchRow[] = [];
  /** Number of rows that restore an unrecorded click. */
  restored = 0;

  get sessions(): ReadonlySet<SessionRecord> {
    return new Set(this.#rows.map(({ session }) => session));
  }

  get size(): number {
    return this.#rows.length;
  }

  /** Adds a row. Returns false, without adding the row, if its outcome cannot be predicted. */
  add(session: SessionRecord, row: ConfirmationRow): boolean {
    if (session.verdictOn(row) === null) return false;
    const isClickKnown = session.counted.has(row.offerId);
    const verdict = session.addConfirmation(row);
    if (verdict === 'accepted' && !isClickKnown) this.restored++;
    this.#rows.push({ session, row, verdict });
    return true;
  }

  get verdicts(): readonly RowVerdict[] {
    return this.#rows.map(({ verdict }) => verdict);
  }

  /** Moves reversals to random places, also before the payout that they reverse. */
  mixReversals(random: Random): void {
    const isReversal = ({ row }: BatchRow) => row.status === 'reversed' && row.spoilt === null;
    const reversals = this.#rows.filter(isReversal);
    const mixed = this.#rows.filter((each) => !isReversal(each));
    let least = 0;
    for (const reversal of reversals) {
      const at = wholeNumber(random, least, mixed.length);
      mixed.splice(at, 0, reversal);
      least = at + 1;
    }
    this.#rows = mixed;
  }

  bodies(): object[] {
    return this.#rows.map(({ session, row }) => bodyOf(session.subId, row));
  }

  /** Returns the expected outcomes of a repetition, or null if it would book another row. */
  verdictsAgain(): readonly RowVerdict[] | null {
    const verdicts = this.#rows.map(({ session, row }) => session.verdictOn(row));
    return verdicts.every((verdict) => verdict !== null && verdict !== 'accepted') ? (verdicts as RowVerdict[]) : null;
  }

  /** Returns the expected answer to rows with these outcomes. Call this after all rows were added. */
  viewOf(verdicts: readonly RowVerdict[]): ConfirmationsResponse {
    const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
    const results = verdicts.map((verdict, index): ConfirmationResult => {
      const isBooked = verdict === 'accepted' || verdict === 'repeated';
      counts[isBooked ? verdict : 'rejected']++;
      const { session, row } = this.#rows[index]!;
      // The service does not look for the payout of an invalid row. Test keys have no payouts.
      const payout = row.spoilt === null ? session.payouts.payoutOf(row) : undefined;
      return {
        index,
        ...(isBooked ? { outcome: verdict } : { outcome: 'rejected', reason: verdict }),
        ...(payout === undefined ? {} : { payout }),
      };
    });
    return { ...counts, results };
  }

  /** Marks the earlier records of the sessions as durable after an answer. Returns false if all rows were invalid. */
  markDurable(): boolean {
    if (this.#rows.every(({ row }) => row.spoilt !== null)) return false;
    for (const session of this.sessions) session.markDurable();
    return true;
  }
}

function bodyOf(subId: string, row: ConfirmationRow): object {
  const { offerId, txid, status, amountMicros, occurredMs, issued, isDoublyNamed, spoilt } = row;
  return {
    ...(issued === null ? {} : { click_id: issued.clickId }),
    ...(issued === null || isDoublyNamed ? { sub_id: subId, svc_offer_id: offerId } : {}),
    txid,
    status,
    // At most six decimals, so that the amount is parsed to the same number of micro-dollars.
    amount: amountMicros / 1_000_000,
    occurred_at: new Date(occurredMs).toISOString(),
    ...spoilt?.members,
  };
}
