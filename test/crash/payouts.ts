import type { ConfirmationRow, RowVerdict } from './confirmation-row.ts';

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
    return this.rows.reduce((sum, row) => sum + changeMicros(row), 0);
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
export function changeMicros({ status, amountMicros }: ConfirmationRow): number {
  return status === 'funded' ? amountMicros : -amountMicros;
}

function keyOf({ offerId, txid }: ConfirmationRow, status: ConfirmationRow['status']): string {
  return `${offerId} ${txid} ${status}`;
}
