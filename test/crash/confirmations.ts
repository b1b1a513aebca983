import type { ConfirmationResult, ConfirmationStatus, ConfirmationsView } from '../../src/index.ts';
import type { SessionRecord } from './session-record.ts';

/** A click_id from a redirect, and what its click books if nothing else tells of it. */
export interface IssuedClick {
  readonly offerId: string;
  readonly clickId: string;
  readonly micros: number;
}

/** What a lender says of one payout of a session, in the words of the crash test. */
export interface ConfirmationRow {
  readonly offerId: string;
  readonly txid: string;
  readonly status: ConfirmationStatus;
  readonly amountMicros: number;
  readonly occurredMs: number;
  /** Names the click by its click_id; null: by session and offer alone. */
  readonly issued: IssuedClick | null;
  /** Whether a row with a click_id names session and offer, too. */
  readonly isDoublyNamed: boolean;
  /** Members that make it no confirmation at all, and the reason it gets. */
  readonly spoilt: { readonly members: object; readonly reason: Reason } | null;
}

type Reason = NonNullable<ConfirmationResult['reason']>;

/** `unknown` is no verdict: it leaves a row in doubt. */
export type RowVerdict = 'accepted' | 'repeated' | Reason;

/** The row as it is sent. */
export function rowBody(subId: string, row: ConfirmationRow): object {
  const { offerId, txid, status, amountMicros, occurredMs, issued, isDoublyNamed, spoilt } = row;
  return {
    ...(issued === null ? {} : { click_id: issued.clickId }),
    ...(issued === null || isDoublyNamed ? { sub_id: subId, svc_offer_id: offerId } : {}),
    txid,
    status,
    // The double nearest to at most six decimals, which is what they read as again.
    amount: amountMicros / 1_000_000,
    occurred_at: new Date(occurredMs).toISOString(),
    ...spoilt?.members,
  };
}

/** docs/contract.md#confirmation-rules: no session earns more, and no row tells of more. */
export const sessionMicrosMax = 100_000 * 1_000_000;

/** Payouts funded and reversed of one session, by the rules that a lender may rely on (docs/contract.md#confirmation-rules). */
export class Payouts {
  readonly #booked = new Map<string, ConfirmationRow>();

  /** In the order of booking. */
  get rows(): ConfirmationRow[] {
    return [...this.#booked.values()];
  }

  get confirmedMicros(): number {
    return this.rows.reduce((sum, row) => sum + revenueChangeMicros(row), 0);
  }

  /** The verdict on a row whose side of the payout has been booked before; null when it has not. */
  verdictOnKnown(row: ConfirmationRow): RowVerdict | null {
    const first = this.#find(row, row.status);
    if (first === undefined) return null;
    const isSame = first.amountMicros === row.amountMicros && first.occurredMs === row.occurredMs;
    return isSame ? 'repeated' : 'conflict';
  }

  /** What is wrong with a reversal of what stands here; null when nothing is. */
  faultOfReversal(row: ConfirmationRow): RowVerdict | null {
    const funded = this.#find(row, 'funded');
    if (funded === undefined) return 'txid_unknown';
    return row.amountMicros > funded.amountMicros ? 'exceeds_funded' : null;
  }

  /** Whether a funding is more than the session may still earn. */
  isBeyondLimit({ amountMicros }: ConfirmationRow): boolean {
    return this.confirmedMicros + amountMicros > sessionMicrosMax;
  }

  isReversed(funded: ConfirmationRow): boolean {
    return this.#find(funded, 'reversed') !== undefined;
  }

  book(row: ConfirmationRow): void {
    this.#booked.set(keyOf(row, row.status), row);
  }

  /** A crash took it back. */
  forget(row: ConfirmationRow): void {
    this.#booked.delete(keyOf(row, row.status));
  }

  #find(row: ConfirmationRow, status: ConfirmationRow['status']): ConfirmationRow | undefined {
    return this.#booked.get(keyOf(row, status));
  }
}

/** What an accepted row adds to confirmed revenue. */
export function revenueChangeMicros({ status, amountMicros }: ConfirmationRow): number {
  return status === 'funded' ? amountMicros : -amountMicros;
}

function keyOf({ offerId, txid }: ConfirmationRow, status: ConfirmationRow['status']): string {
  return `${offerId} ${txid} ${status}`;
}

/** Rows that travel together, noted in the records of their sessions as they are added, and what must come back for them. */
export class ConfirmationBatch {
  readonly #rows: { readonly session: SessionRecord; readonly row: ConfirmationRow }[] = [];
  readonly verdicts: RowVerdict[] = [];
  /** Rows that bring the click they are for. */
  restored = 0;

  get sessions(): ReadonlySet<SessionRecord> {
    return new Set(this.#rows.map(({ session }) => session));
  }

  get size(): number {
    return this.#rows.length;
  }

  /** False, and nothing is added, where nobody knows what must become of it. */
  add(session: SessionRecord, row: ConfirmationRow): boolean {
    if (session.verdictOn(row) === null) return false;
    const isClickKnown = session.counted.has(row.offerId);
    const verdict = session.addConfirmation(row);
    if (verdict === 'accepted' && !isClickKnown) this.restored++;
    this.#rows.push({ session, row });
    this.verdicts.push(verdict);
    return true;
  }

  bodies(): object[] {
    return this.#rows.map(({ session, row }) => rowBody(session.subId, row));
  }

  /** What must come back when the same rows are sent once more; null when that would book something new. */
  verdictsAgain(): readonly RowVerdict[] | null {
    const verdicts = this.#rows.map(({ session, row }) => session.verdictOn(row));
    return verdicts.every((verdict) => verdict !== null && verdict !== 'accepted') ? (verdicts as RowVerdict[]) : null;
  }

  /** It was answered: whatever the ledger had taken from these sessions is durable, if it was asked about one of them. */
  markDurable(): boolean {
    if (this.#rows.every(({ row }) => row.spoilt !== null)) return false;
    for (const session of this.sessions) session.markDurable();
    return true;
  }
}

/** The answer to rows that come to this. */
export function viewOf(verdicts: readonly RowVerdict[]): ConfirmationsView {
  const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
  const results = verdicts.map((verdict, index): ConfirmationResult => {
    const isBooked = verdict === 'accepted' || verdict === 'repeated';
    counts[isBooked ? verdict : 'rejected']++;
    return isBooked ? { index, outcome: verdict } : { index, outcome: 'rejected', reason: verdict };
  });
  return { ...counts, results };
}
